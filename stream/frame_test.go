package stream

import (
	"bytes"
	"testing"
)

func FuzzFrame(f *testing.F) {
	f.Add([]byte{})
	b := make([]byte, headerBytes+1)
	frame{kind: frameData, dialled: true, arg: 7, id: 1 << 60}.put(b)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		g, payload, err := parseFrame(b)
		if err != nil {
			return
		}
		again := make([]byte, headerBytes, len(b))
		g.put(again)
		if !bytes.Equal(append(again, payload...), b) {
			t.Errorf("%+v is written %x, and was %x", g, again, b)
		}
	})
}
