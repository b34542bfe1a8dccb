package pcap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"weft/internal/engine/wire"
	"weft/lab/pcap"
)

// frames are one of every type.
func frames() [][]byte {
	with := func(b []byte, payload string) []byte { return append(b, payload...) }
	all := [][]byte{
		wire.Bye{}.Append(nil),
		with(wire.Done{More: true}.Append(nil), "\x01\x00"),
		wire.Beat{Ask: true}.Append(nil),
		with((&wire.Data{AckReq: true, Channel: 1, Seq: 2, Ack: 3, Total: 4, Off: 0}).Append(nil), "data"),
		wire.Ack{Channel: 1, Ack: 2, Room: 65536}.Append(nil),
		wire.Nack{WillGo: true, Channel: 1, Seq: 2}.Append(nil),
		wire.Go{Channel: 1, Seq: 2}.Append(nil),
		wire.RTS{AckReq: true, Channel: 1, Seq: 2, Ack: 3, Token: 4, Total: 1 << 33, Mem: 5, Addr: 0xc000010000}.Append(nil),
		wire.Fetch{Token: 4, Off: 5, N: 6}.Append(nil),
		with(wire.Piece{End: true, Token: 4, Off: 5}.Append(nil), "piece"),
		wire.Fetched{Status: wire.StatusTooLong, Token: 4}.Append(nil),
		wire.AckReq{Channel: 1, Ack: 2}.Append(nil),
		wire.Settled{Status: wire.StatusCancelled, Token: 4}.Append(nil),
		with(wire.Revoke{Channel: 1, By: 2, Gone: wire.Nobody}.Append(nil), "why"),
		wire.Fence{Channel: 1, Number: 2, Seq: 3}.Append(nil),
		wire.FenceAck{Channel: 1, Number: 2, Ack: 3, Room: 65536}.Append(nil),
		with(wire.Attach{Op: 1}.Append(nil), "a name"),
		wire.Attached{ReadOnly: true, Status: wire.StatusNoRegion, Op: 1, Region: 2, Mem: 3, Key: 0xdeadbeef,
			Size: 4096}.Append(nil),
		with(wire.Push{End: true, Code: wire.CodeXor, Op: 1, Region: 2, Key: 0xdeadbeef, Off: 8, Limit: 16}.Append(nil), "pushed b"),
		with(wire.Put{Code: wire.CodeAddFloat, Region: 2, Key: 0xdeadbeef, Off: 8}.Append(nil), "put"),
		wire.Flush{Op: 1}.Append(nil),
		wire.Pull{Op: 1, Region: 2, Key: 0xdeadbeef, Off: 8, N: 16}.Append(nil),
		with(wire.Pulled{End: true, Op: 1, Off: 8}.Append(nil), "pulled b"),
		wire.Atomic{Code: wire.CodeCompareSwap, Op: 1, Region: 2, Key: 0xdeadbeef, Off: 8, A: 5, B: 6}.Append(nil),
		wire.Result{Status: wire.StatusReadOnly, Op: 1, Value: 7}.Append(nil),
		wire.Guard{Lock: 0xfeedface, Epoch: 8}.Append(nil),
		with(wire.IPush{End: true, Mode: 2, Round: 3, Op: 1, Region: 2, Entry: wire.NoEntry, Key: 0xdeadbeef, Off: 8,
			Total: 16, Tag: 9}.Append(nil), "ipushed "),
		wire.IStop{Round: 3, Op: 1, Region: 2, Off: 8}.Append(nil),
		wire.IGo{Round: 3, Region: 2}.Append(nil),
		wire.Knock{Region: 2}.Append(nil),
		wire.Result{Status: wire.StatusNoEntry, Op: 1}.Append(nil),
		wire.Result{Status: wire.StatusForbidden, Op: 1}.Append(nil),
		{0x77, 0, 0, 0}, // of no known type
	}
	for k := wire.EventKind(1); !strings.HasPrefix(k.String(), "event "); k++ {
		all = append(all, wire.Event{Kind: k, Flag: k%2 == 0, Slot: 1, Rank: 2, ID: 0xfeedface, Phase: 3, Arg: 4,
			Aux: 5}.Append(nil))
	}
	return all
}

// packets puts the frames into packets, and adds one of every other kind.
func packets() (all [][]byte) {
	head := wire.Link{Src: 1, Dst: 0, Job: 0x77, Incarnation: 0xabcdef0123456789, Ack: 5,
		Flags: wire.Checksum | wire.Selective}
	add := func(k wire.Kind, seq uint32, rest []byte) {
		head.Kind = k
		head.Seq = seq
		head.Counter++
		all = append(all, append(head.Append(nil), rest...))
	}
	for i, f := range frames() {
		add(wire.KindData, uint32(i), f)
	}
	for _, k := range []wire.Kind{wire.KindAck, wire.KindLose, wire.KindStop, wire.KindGo, wire.KindProbe} {
		add(k, 0, nil)
	}
	add(wire.KindProbe, 0, make([]byte, 100))
	add(wire.KindAck, 164, nil)
	add(wire.KindPart, 9, append(wire.Part{Off: 1160, Total: 1164}.Append(nil), "part"...))
	add(wire.KindSelect, 0, []byte{1, 2, 3, 1})
	head.Flags = wire.Encrypted | wire.Selective
	add(wire.KindData, 99, []byte("what nobody can read"))
	add(wire.KindAck, 0, nil)
	add(wire.KindSelect, 0, make([]byte, 2))
	return all
}

// TestDissector records every packet there is and compares what tshark shows of
// it with testdata.
func TestDissector(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs tshark (Debian: apt install tshark)")
	}
	var file bytes.Buffer
	w, err := pcap.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packets() {
		b := []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5}
		b = binary.BigEndian.AppendUint64(b, 0x77)
		b = binary.BigEndian.AppendUint32(b, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(len(p)))
		b = append(append(b, 0, 0), p...)
		if err := w.Write(time.Unix(0, 0), b); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "frames.pcap")
	if err := os.WriteFile(name, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tshark, "-X", "lua_script:../../docs/wireshark/weft.lua", "-r", name, "-O", "weft,weft_eth", "-t", "r")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || strings.Contains(stderr.String(), "weft.lua") {
		t.Fatalf("%v: %s", err, &stderr)
	}
	datadriven.RunTest(t, "testdata/dissected", func(t *testing.T, d *datadriven.TestData) string {
		return tidy(string(out))
	})
}

// tidy leaves what the dissector says.
func tidy(s string) string {
	var lines []string
	for _, line := range strings.Split(s, "\n") {
		if ours.MatchString(line) {
			lines = append(lines, strings.TrimRight(line, " "))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

var ours = regexp.MustCompile(`^weft|^    `)
