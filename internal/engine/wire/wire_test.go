package wire

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// A sample is one frame: its bytes, and a function that parses bytes and makes them anew.
type sample struct {
	name  string
	bytes []byte
	size  int // of the head
	again func(b []byte) (made []byte, err error)
}

// A framer is a frame that is made by a value.
type framer interface{ Append(b []byte) []byte }

// with is a sample of a frame with a payload.
func with[F framer](f F, payload string, parse func([]byte) (F, []byte, error)) sample {
	head := f.Append(nil)
	return sample{reflect.TypeFor[F]().Name(), append(head, payload...), len(head), func(b []byte) ([]byte, error) {
		f, p, err := parse(b)
		return append(f.Append(nil), p...), err
	}}
}

// bare is a sample of a frame without a payload.
func bare[F framer](f F, parse func([]byte) (F, error)) sample {
	return with(f, "", func(b []byte) (F, []byte, error) {
		f, err := parse(b)
		return f, nil, err
	})
}

var samples = []sample{
	{"Data", append((&Data{AckReq: true, Channel: 1, Seq: 2, Ack: 3, Total: 4, Off: 0}).Append(nil), "data"...), DataSize,
		func(b []byte) ([]byte, error) {
			f, p, err := parseData(b)
			return append(f.Append(nil), p...), err
		}},
	{"Link", append((&Link{Kind: KindData, Src: 1, Dst: 2, Job: 3, Incarnation: 4 << 40, Flags: 2, Seq: 6, Ack: 7,
		Counter: 8}).Append(nil), "frame"...),
		LinkSize, func(b []byte) ([]byte, error) {
			var f Link
			p, err := f.Parse(b)
			if err != nil {
				return nil, err
			}
			made := f.Append(nil)
			copy(made[LinkSize-TagSize:], b[LinkSize-TagSize:]) // the tag is not the parser's
			return append(made, p...), nil
		}},
	with(IPush{End: true, Mode: 1, Round: 2, Op: 3, Region: 4, Entry: 5, Key: 6, Off: 1996, Total: 2000, Tag: 8}, "tail",
		ParseIPush),
	bare(IStop{Round: 1, Op: 2, Region: 3, Off: 4}, ParseIStop),
	bare(IGo{Round: 1, Region: 2}, ParseIGo),
	bare(Knock{Region: 2}, ParseKnock),
	bare(Ack{Barred: true, Channel: 7, Ack: 1 << 31, Room: 12345}, ParseAck),
	bare(AckReq{Channel: 65535, Ack: 9}, ParseAckReq),
	bare(Nack{WillGo: true, Channel: 1, Seq: 4}, ParseNack),
	bare(Go{Channel: 3, Seq: 1}, ParseGo),
	bare(RTS{AckReq: true, Channel: 2, Seq: 5, Ack: 6, Token: 7, Total: 1 << 40, Mem: 9, Addr: 1 << 60}, ParseRTS),
	bare(Fetch{Token: 4, Off: 1 << 33, N: 8}, ParseFetch),
	bare(Fetched{Status: StatusClosed, Token: 4}, ParseFetched),
	bare(Settled{Status: StatusCancelled, Token: 4}, ParseSettled),
	bare(Attached{ReadOnly: true, Op: 1, Region: 2, Mem: 3, Key: 4, Size: 5}, ParseAttached),
	bare(Flush{Op: 77}, ParseFlush),
	bare(Pull{Op: 1, Region: 2, Key: 3, Off: 4, N: 5}, ParsePull),
	bare(Atomic{Code: CodeCompareSwap, Op: 1, Region: 2, Key: 3, Off: 8, A: 5, B: 6}, ParseAtomic),
	bare(Result{Status: StatusBounds, Op: 1, Value: 2}, ParseResult),
	bare(Guard{Lock: 1, Epoch: 2}, ParseGuard),
	bare(Event{Kind: EventToken, Flag: true, Slot: 2, Rank: 3, ID: 4, Phase: 5, Arg: 6, Aux: 7}, ParseEvent),
	with(Bye{Failed: true}, "why", ParseBye),
	with(Done{More: true, Writes: true}, "\x01\x00\x02\x00", ParseDone),
	bare(Beat{Ask: true}, ParseBeat),
	with(Piece{End: true, Token: 4, Off: 1 << 35}, "a piece", ParsePiece),
	with(Attach{Op: 3}, "name", ParseAttach),
	with(Revoke{Channel: 3, By: 4, Gone: Nobody}, "why", ParseRevoke),
	bare(Fence{Channel: 3, Number: 4, Seq: 1 << 31}, ParseFence),
	bare(FenceAck{Channel: 3, Number: 4, Ack: 1 << 31, Room: 5}, ParseFenceAck),
	with(Push{End: true, Code: CodeMaxFloat, Op: 1, Region: 2, Key: 3, Off: 4, Limit: 10}, "pushed", ParsePush),
	with(Put{Code: CodeAdd, Region: 1, Key: 2, Off: 3}, "put", ParsePut),
	with(Pulled{End: true, Op: 1, Off: 4}, "pulled", ParsePulled),
}

// TestHeadSizes: HeadSize tells the length of the head of each frame that has a payload.
func TestHeadSizes(t *testing.T) {
	for _, c := range samples {
		want := c.size
		if c.name == "Link" || len(c.bytes) == c.size {
			want = 0
		}
		if got := HeadSize(Type(c.bytes[0])); got != want {
			t.Errorf("%s: %d, and the head has %d bytes", c.name, got, want)
		}
	}
	if n := len(Event{}.Append(nil)); n != EventSize {
		t.Errorf("an event has %d bytes", n)
	}
}

// TestEveryTypeIsDescribed: each type of frames has the name and the parser of its own.
func TestEveryTypeIsDescribed(t *testing.T) {
	for _, c := range samples {
		if c.name == "Link" {
			continue
		}
		if got, _, _ := strings.Cut(Describe(c.bytes), " "); got != strings.ToUpper(c.name) {
			t.Errorf("%s is called %q", c.name, got)
		}
	}
	if len(frames) != len(samples)-1 {
		t.Errorf("%d types have names, and %d have samples", len(frames), len(samples)-1)
	}
}

func TestFramesComeBack(t *testing.T) {
	for _, c := range samples {
		made, err := c.again(c.bytes)
		if err != nil || !bytes.Equal(made, c.bytes) {
			t.Errorf("%s: %x became %x: %v", c.name, c.bytes, made, err)
		}
		if c.size > MaxHead && c.name != "Link" {
			t.Errorf("%s: a head of %d bytes is longer than MaxHead", c.name, c.size)
		}
	}
}

func TestTruncatedFramesAreRefused(t *testing.T) {
	for _, c := range samples {
		for n := range c.size {
			if _, err := c.again(c.bytes[:n]); !errors.Is(err, ErrShort) {
				t.Errorf("%s cut to %d bytes: %v", c.name, n, err)
			}
		}
	}
}

func TestOtherTypesAreRefused(t *testing.T) {
	for _, c := range samples {
		b := bytes.Clone(c.bytes)
		b[0] ^= 0x80
		if _, err := c.again(b); err == nil {
			t.Errorf("%s: type %#x was accepted", c.name, b[0])
		}
	}
}

// TestFramesCostNoMemory: a frame is written into the memory that is given, and read without any.
func TestFramesCostNoMemory(t *testing.T) {
	buf := make([]byte, 0, MaxHead)
	if n := testing.AllocsPerRun(100, func() {
		_, err := ParsePull(Pull{Op: 1, Region: 2, Key: 3, Off: 4, N: 5}.Append(buf))
		_, _, put := ParsePut(append(Put{Region: 1, Key: 2, Off: 3}.Append(buf), "put"...))
		if err != nil || put != nil {
			t.Error(err, put)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A flipped bit is either refused or comes back as it was: there are no bits
// that a parser does not look at, where a peer could hide something.
func TestEveryBitMatters(t *testing.T) {
	for _, c := range samples {
		for bit := range 8 * len(c.bytes) {
			b := bytes.Clone(c.bytes)
			b[bit/8] ^= 1 << (bit % 8)
			if made, err := c.again(b); err == nil && !bytes.Equal(made, b) {
				t.Errorf("%s: bit %d of byte %d is ignored", c.name, bit%8, bit/8)
			}
		}
	}
}

func TestOffsets(t *testing.T) {
	for _, name := range []string{"Data", "Piece", "Push", "Pulled", "IPush"} {
		for _, c := range samples {
			if c.name != name {
				continue
			}
			head := bytes.Clone(c.bytes[:c.size])
			SetOffset(head, 1234, false)
			if got := Offset(head); got != 1234 {
				t.Errorf("%s: offset %d", name, got)
			}
			if _, err := c.again(append(head, "piece"...)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// fuzz checks that a parser never panics, and that what it accepts comes back
// byte for byte.
func fuzz(f *testing.F, name string) {
	for _, c := range samples {
		f.Add(c.bytes)
		f.Add(c.bytes[:len(c.bytes)-1])
	}
	for _, c := range samples {
		if c.name != name {
			continue
		}
		f.Fuzz(func(t *testing.T, b []byte) {
			if made, err := c.again(b); err == nil && !bytes.Equal(made, b) {
				t.Errorf("%x became %x", b, made)
			}
		})
	}
}

func FuzzData(f *testing.F)     { fuzz(f, "Data") }
func FuzzLink(f *testing.F)     { fuzz(f, "Link") }
func FuzzAck(f *testing.F)      { fuzz(f, "Ack") }
func FuzzAckReq(f *testing.F)   { fuzz(f, "AckReq") }
func FuzzRevoke(f *testing.F)   { fuzz(f, "Revoke") }
func FuzzFence(f *testing.F)    { fuzz(f, "Fence") }
func FuzzFenceAck(f *testing.F) { fuzz(f, "FenceAck") }
func FuzzNack(f *testing.F)     { fuzz(f, "Nack") }
func FuzzGo(f *testing.F)       { fuzz(f, "Go") }
func FuzzRTS(f *testing.F)      { fuzz(f, "RTS") }
func FuzzFetch(f *testing.F)    { fuzz(f, "Fetch") }
func FuzzFetched(f *testing.F)  { fuzz(f, "Fetched") }
func FuzzSettled(f *testing.F)  { fuzz(f, "Settled") }
func FuzzAttached(f *testing.F) { fuzz(f, "Attached") }
func FuzzFlush(f *testing.F)    { fuzz(f, "Flush") }
func FuzzPull(f *testing.F)     { fuzz(f, "Pull") }
func FuzzAtomic(f *testing.F)   { fuzz(f, "Atomic") }
func FuzzResult(f *testing.F)   { fuzz(f, "Result") }
func FuzzGuard(f *testing.F)    { fuzz(f, "Guard") }
func FuzzEvent(f *testing.F)    { fuzz(f, "Event") }
func FuzzBye(f *testing.F)      { fuzz(f, "Bye") }
func FuzzDone(f *testing.F)     { fuzz(f, "Done") }
func FuzzBeat(f *testing.F)     { fuzz(f, "Beat") }
func FuzzPiece(f *testing.F)    { fuzz(f, "Piece") }
func FuzzAttach(f *testing.F)   { fuzz(f, "Attach") }
func FuzzPush(f *testing.F)     { fuzz(f, "Push") }
func FuzzPut(f *testing.F)      { fuzz(f, "Put") }
func FuzzPulled(f *testing.F)   { fuzz(f, "Pulled") }
func FuzzIPush(f *testing.F)    { fuzz(f, "IPush") }
func FuzzIStop(f *testing.F)    { fuzz(f, "IStop") }
func FuzzIGo(f *testing.F)      { fuzz(f, "IGo") }
func FuzzKnock(f *testing.F)    { fuzz(f, "Knock") }
