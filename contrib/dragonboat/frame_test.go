package weftdragonboat

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	pb "github.com/lni/dragonboat/v4/raftpb"
)

// read returns a reader of what a peer has sent.
func read(sent []byte) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(bytes.NewReader(sent), 64)}
}

// TestFrames: what has been framed is read again, short and long, also many of them from one buffer.
func TestFrames(t *testing.T) {
	var sent []byte
	sizes := []int{0, 1, 40, 64, 65, 100000, 3}
	for _, n := range sizes {
		chunk := pb.Chunk{Data: bytes.Repeat([]byte{7}, n)}
		var err error
		if sent, err = appendFrame(sent, chunkFrame, chunk.Size(), &chunk); err != nil {
			t.Fatal(err)
		}
	}
	r := read(sent)
	for _, n := range sizes {
		var chunk pb.Chunk
		kind, body, err := r.next()
		if err != nil || kind != chunkFrame || chunk.Unmarshal(body) != nil || len(chunk.Data) != n {
			t.Fatalf("%d bytes: kind %d, %d bytes, %v", n, kind, len(chunk.Data), err)
		}
	}
	if _, _, err := r.next(); err != io.EOF {
		t.Error(err)
	}
}

// TestHostileFrames: what cannot be a frame ends the connection, and a claim takes no memory.
func TestHostileFrames(t *testing.T) {
	for _, sent := range []string{"\x00\x00\x00\x00\x00", "\x03\x00\x00\x00\x00", "\x01\x40\x00\x00\x01"} {
		if _, _, err := read([]byte(sent)).next(); !errors.Is(err, errFrame) {
			t.Errorf("%q: %v", sent, err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := read([]byte("\x01\x40\x00\x00\x00only this")).next()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.EOF) || after.TotalAlloc-before.TotalAlloc > 1<<20 {
		t.Errorf("%v, %d bytes", err, after.TotalAlloc-before.TotalAlloc)
	}
}

// FuzzFrames: no bytes make the reader fail in another way than by an error.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x02ab\x02\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		r := read(sent)
		for {
			kind, body, err := r.next()
			if err != nil {
				return
			}
			if kind != messageFrame && kind != chunkFrame || len(body) > len(sent) {
				t.Fatalf("kind %d, %d bytes", kind, len(body))
			}
		}
	})
}
