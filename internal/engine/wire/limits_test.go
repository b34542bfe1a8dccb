package wire

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// TestLimits: each field takes its last value that is possible, and not the next.
func TestLimits(t *testing.T) {
	event := func(k EventKind) []byte { return Event{Kind: k}.Append(nil) }
	linked := func(f Link, n int) []byte { return append(f.Append(nil), make([]byte, n)...) }
	ipush := func(f IPush, n int) []byte { return append(f.Append(nil), make([]byte, n)...) }
	long := func(b []byte, n int) []byte { return append(b, make([]byte, n)...) }
	tests := []struct {
		name  string
		parse func(b []byte) error
		good  [][]byte
		bad   [][]byte
	}{
		{
			"Attach", func(b []byte) error { _, _, err := ParseAttach(b); return err },
			[][]byte{long(Attach{}.Append(nil), 1), long(Attach{}.Append(nil), MaxName)},
			[][]byte{Attach{}.Append(nil), long(Attach{}.Append(nil), MaxName+1)},
		}, {
			"Attached", func(b []byte) error { _, err := ParseAttached(b); return err },
			[][]byte{Attached{Status: statusEnd - 1}.Append(nil)},
			[][]byte{Attached{Status: statusEnd}.Append(nil), long(Attached{}.Append(nil), 1)},
		}, {
			"Fetched", func(b []byte) error { _, err := ParseFetched(b); return err },
			[][]byte{Fetched{Status: statusEnd - 1}.Append(nil)},
			[][]byte{Fetched{Status: statusEnd}.Append(nil), long(Fetched{}.Append(nil), 1)},
		}, {
			"Settled", func(b []byte) error { _, err := ParseSettled(b); return err },
			[][]byte{Settled{Status: statusEnd - 1}.Append(nil)},
			[][]byte{Settled{Status: statusEnd}.Append(nil), long(Settled{}.Append(nil), 1)},
		}, {
			"Result", func(b []byte) error { _, err := ParseResult(b); return err },
			[][]byte{Result{Status: statusEnd - 1}.Append(nil)},
			[][]byte{Result{Status: statusEnd}.Append(nil), long(Result{}.Append(nil), 1)},
		}, {
			"Event", func(b []byte) error { _, err := ParseEvent(b); return err },
			[][]byte{event(1), event(eventEnd - 1)},
			[][]byte{event(0), event(eventEnd), long(event(1), 1)},
		}, {
			"Put", func(b []byte) error { _, _, err := ParsePut(b); return err },
			[][]byte{long(Put{}.Append(nil), 1), long(Put{Code: codeEnd - 1}.Append(nil), MaxPut)},
			[][]byte{
				Put{}.Append(nil), long(Put{}.Append(nil), MaxPut+1), long(Put{Code: codeEnd}.Append(nil), 8),
				long(Put{Code: CodeCompareSwap}.Append(nil), 8),
			},
		}, {
			"Push", func(b []byte) error { _, _, err := ParsePush(b); return err },
			[][]byte{long(Push{Code: codeEnd - 1}.Append(nil), 8)},
			[][]byte{Push{Code: codeEnd}.Append(nil), Push{Code: CodeCompareSwap}.Append(nil)},
		}, {
			"Atomic", func(b []byte) error { _, err := ParseAtomic(b); return err },
			[][]byte{Atomic{Code: codeEnd - 1}.Append(nil)},
			[][]byte{Atomic{Code: codeEnd}.Append(nil)},
		}, {
			"Done", func(b []byte) error { _, _, err := ParseDone(b); return err },
			[][]byte{
				Done{}.Append(nil), Done{More: true}.Append(nil), long(Done{More: true}.Append(nil), 2*MaxOpen),
				long(Done{More: true, On: true}.Append(nil), 2*MaxOpen), long(Done{More: true, Less: true}.Append(nil), 2),
				AppendChannels(Done{More: true}.Append(nil), []uint16{3, 259}),
			},
			[][]byte{
				long(Done{}.Append(nil), 2), long(Done{More: true}.Append(nil), 1), long(Done{More: true}.Append(nil), 2*MaxOpen+2),
				long(Done{More: true, On: true}.Append(nil), 2*MaxOpen-2), Done{Writes: true}.Append(nil),
				long(Done{More: true, On: true, Less: true}.Append(nil), 2*MaxOpen), Done{Less: true}.Append(nil),
				AppendChannels(Done{More: true}.Append(nil), []uint16{259, 3}),
			},
		}, {
			"Revoke", func(b []byte) error { _, _, err := ParseRevoke(b); return err },
			[][]byte{Revoke{}.Append(nil), long(Revoke{}.Append(nil), MaxReason)},
			[][]byte{long(Revoke{}.Append(nil), MaxReason+1)},
		}, {
			"Fence", func(b []byte) error { _, err := ParseFence(b); return err },
			[][]byte{Fence{Channel: 1<<16 - 1, Number: 1<<32 - 1, Seq: 1<<32 - 1}.Append(nil)},
			[][]byte{long(Fence{}.Append(nil), 1)},
		}, {
			"FenceAck", func(b []byte) error { _, err := ParseFenceAck(b); return err },
			[][]byte{FenceAck{Number: 1<<32 - 1, Ack: 1<<32 - 1, Room: 1<<32 - 1}.Append(nil)},
			[][]byte{long(FenceAck{}.Append(nil), 1)},
		}, {
			"IPush", func(b []byte) error { _, _, err := ParseIPush(b); return err },
			[][]byte{
				ipush(IPush{End: true}, 0), // an empty message
				ipush(IPush{Mode: ipushModes - 1, Total: 8}, 7),
				ipush(IPush{End: true, Total: 1 << 40, Off: 1<<40 - 3}, 3),
				ipush(IPush{End: true, Total: 8}, 8),
			},
			[][]byte{
				ipush(IPush{Mode: ipushModes, Total: 8}, 7),
				ipush(IPush{Total: 1<<40 + 1}, 3),
				ipush(IPush{Total: 8, Off: 9}, 3),
				ipush(IPush{Total: 8, Off: 6}, 3),
				ipush(IPush{End: true, Total: 8, Off: 8}, 0),
				ipush(IPush{End: true, Total: 8}, 7),
				ipush(IPush{Total: 8}, 8),
				ipush(IPush{Total: 8}, 0),
				ipush(IPush{End: true, Off: 1}, 0),
			},
		}, {
			"Link", func(b []byte) error { _, err := new(Link).Parse(b); return err },
			[][]byte{
				linked(Link{Kind: KindAck, Incarnation: 1, Flags: flagsEnd - 1 - Checksum}, 0),
				linked(Link{Kind: KindSelect, Incarnation: 1, Flags: Checksum | Selective}, SelectSize),
				linked(Link{Kind: KindSelect, Incarnation: 1}, 1),
				linked(Link{Kind: KindGreet, Incarnation: 1, Flags: Encrypted}, ShareSize),
				linked(Link{Kind: KindData, Incarnation: 1}, 0),
				linked(Link{Kind: KindData, Incarnation: 1}, 9),
			},
			[][]byte{
				linked(Link{Kind: 0, Incarnation: 1}, 0),
				linked(Link{Kind: kindEnd, Incarnation: 1}, 0),
				linked(Link{Kind: KindAck, Incarnation: 1, Flags: flagsEnd}, 0),
				linked(Link{Kind: KindAck, Incarnation: 1, Flags: Checksum | Encrypted}, 0),
				linked(Link{Kind: KindAck}, 0),
				linked(Link{Kind: KindAck, Incarnation: 1}, 1),
				linked(Link{Kind: KindGreet, Incarnation: 1}, 0),
				linked(Link{Kind: KindGreet, Incarnation: 1}, ShareSize+1),
				linked(Link{Kind: KindSelect, Incarnation: 1}, SelectSize+1),
				linked(Link{Kind: KindSelect, Incarnation: 1}, 0),
			},
		},
	}
	for _, c := range tests {
		for i, b := range c.good {
			if err := c.parse(b); err != nil {
				t.Errorf("%s: possible frame %d is refused: %v", c.name, i, err)
			}
		}
		for i, b := range c.bad {
			if err := c.parse(b); !errors.Is(err, ErrField) {
				t.Errorf("%s: impossible frame %d: %v", c.name, i, err)
			}
		}
	}
}

// TestHeadsAreExact: a head of exactly its length is whole, and Append writes into memory that has
// room, and only there.
func TestHeadsAreExact(t *testing.T) {
	for _, c := range samples {
		if _, err := c.again(c.bytes[:c.size]); errors.Is(err, ErrShort) {
			t.Errorf("%s: a head of %d bytes is too short", c.name, c.size)
		}
	}
	const size = 8 // of a NACK
	for _, room := range []int{size - 1, size, size + 1} {
		memory := slices.Repeat([]byte{0xee}, 100)
		b := memory[: 2 : 2+room]
		got := Nack{Channel: 7, Seq: 9}.Append(b)
		f, err := ParseNack(got[2:])
		if err != nil || f != (Nack{Channel: 7, Seq: 9}) || !bytes.Equal(got[:2], []byte{0xee, 0xee}) {
			t.Errorf("room for %d bytes: %+v, %v", room, f, err)
		}
		if inPlace := &memory[0] == &got[0]; inPlace != (room >= size) {
			t.Errorf("room for %d bytes: written in place: %v", room, inPlace)
		}
		if !bytes.Equal(memory[2+room:], bytes.Repeat([]byte{0xee}, 98-room)) {
			t.Errorf("room for %d bytes: bytes behind it have changed", room)
		}
	}
}
