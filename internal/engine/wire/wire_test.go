package wire

import (
	"bytes"
	"errors"
	"testing"
)

// A codec is one frame: a sample, and a function that parses bytes and makes
// them anew.
type codec struct {
	name   string
	sample []byte
	size   int // of the head
	again  func(b []byte) (made []byte, err error)
}

var codecs = []codec{
	{"Data", append((&Data{AckReq: true, Channel: 1, Seq: 2, Ack: 3, Total: 4, Off: 0}).Append(nil), "data"...), DataSize,
		func(b []byte) ([]byte, error) {
			var f Data
			p, err := f.Parse(b)
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
	{"IPush", append(IPush{End: true, Mode: 1, Round: 2, Op: 3, Region: 4, Entry: 5, Key: 6, Off: 1996, Total: 2000,
		Tag: 8}.Append(nil), "tail"...), IPushSize,
		func(b []byte) ([]byte, error) {
			f, p, err := ParseIPush(b)
			return append(f.Append(nil), p...), err
		}},
	{"IStop", IStop{Round: 1, Op: 2, Region: 3, Off: 4}.Append(nil), IStopSize, func(b []byte) ([]byte, error) {
		f, err := ParseIStop(b)
		return f.Append(nil), err
	}},
	{"IGo", IGo{Round: 1, Region: 2}.Append(nil), IGoSize, func(b []byte) ([]byte, error) {
		f, err := ParseIGo(b)
		return f.Append(nil), err
	}},
	{"Knock", Knock{Region: 2}.Append(nil), KnockSize, func(b []byte) ([]byte, error) {
		f, err := ParseKnock(b)
		return f.Append(nil), err
	}},
	{"Ack", Ack{Channel: 7, Ack: 1 << 31, Room: 12345}.Append(nil), AckSize, func(b []byte) ([]byte, error) {
		f, err := ParseAck(b)
		return f.Append(nil), err
	}},
	{"AckReq", AckReq{Channel: 65535, Ack: 9}.Append(nil), AckReqSize, func(b []byte) ([]byte, error) {
		f, err := ParseAckReq(b)
		return f.Append(nil), err
	}},
	{"Nack", Nack{WillGo: true, Channel: 1, Seq: 4}.Append(nil), NackSize, func(b []byte) ([]byte, error) {
		f, err := ParseNack(b)
		return f.Append(nil), err
	}},
	{"Go", Go{Channel: 3, Seq: 1}.Append(nil), GoSize, func(b []byte) ([]byte, error) {
		f, err := ParseGo(b)
		return f.Append(nil), err
	}},
	{"RTS", RTS{AckReq: true, Channel: 2, Seq: 5, Ack: 6, Token: 7, Total: 1 << 40, Mem: 9, Addr: 1 << 60}.Append(nil),
		RTSSize, func(b []byte) ([]byte, error) {
			f, err := ParseRTS(b)
			return f.Append(nil), err
		}},
	{"Fetch", Fetch{Token: 4, Off: 1 << 33, N: 8}.Append(nil), FetchSize, func(b []byte) ([]byte, error) {
		f, err := ParseFetch(b)
		return f.Append(nil), err
	}},
	{"Fetched", Fetched{Status: StatusClosed, Token: 4}.Append(nil), FetchedSize, func(b []byte) ([]byte, error) {
		f, err := ParseFetched(b)
		return f.Append(nil), err
	}},
	{"Settled", Settled{Status: StatusCancelled, Token: 4}.Append(nil), SettledSize, func(b []byte) ([]byte, error) {
		f, err := ParseSettled(b)
		return f.Append(nil), err
	}},
	{"Attached", Attached{ReadOnly: true, Op: 1, Region: 2, Mem: 3, Key: 4, Size: 5}.Append(nil), AttachedSize,
		func(b []byte) ([]byte, error) {
			f, err := ParseAttached(b)
			return f.Append(nil), err
		}},
	{"Flush", Flush{Op: 77}.Append(nil), FlushSize, func(b []byte) ([]byte, error) {
		f, err := ParseFlush(b)
		return f.Append(nil), err
	}},
	{"Pull", Pull{Op: 1, Region: 2, Key: 3, Off: 4, N: 5}.Append(nil), PullSize, func(b []byte) ([]byte, error) {
		f, err := ParsePull(b)
		return f.Append(nil), err
	}},
	{"Atomic", Atomic{Code: CodeCompareSwap, Op: 1, Region: 2, Key: 3, Off: 8, A: 5, B: 6}.Append(nil), AtomicSize,
		func(b []byte) ([]byte, error) {
			f, err := ParseAtomic(b)
			return f.Append(nil), err
		}},
	{"Result", Result{Status: StatusBounds, Op: 1, Value: 2}.Append(nil), ResultSize, func(b []byte) ([]byte, error) {
		f, err := ParseResult(b)
		return f.Append(nil), err
	}},
	{"Guard", Guard{Lock: 1, Epoch: 2}.Append(nil), GuardSize, func(b []byte) ([]byte, error) {
		f, err := ParseGuard(b)
		return f.Append(nil), err
	}},
	{"Event", Event{Kind: EventToken, Flag: true, Slot: 2, Rank: 3, ID: 4, Phase: 5, Arg: 6, Aux: 7}.Append(nil),
		EventSize, func(b []byte) ([]byte, error) {
			f, err := ParseEvent(b)
			return f.Append(nil), err
		}},
	{"Bye", Bye{}.Append(nil), ByeSize, func(b []byte) ([]byte, error) {
		f, err := ParseBye(b)
		return f.Append(nil), err
	}},
	{"Done", Done{}.Append(nil), DoneSize, func(b []byte) ([]byte, error) {
		f, err := ParseDone(b)
		return f.Append(nil), err
	}},
	{"Beat", Beat{Ask: true}.Append(nil), BeatSize, func(b []byte) ([]byte, error) {
		f, err := ParseBeat(b)
		return f.Append(nil), err
	}},
	{"Piece", append(Piece{End: true, Token: 4, Off: 1 << 35}.Append(nil), "a piece"...), PieceSize,
		func(b []byte) ([]byte, error) {
			f, p, err := ParsePiece(b)
			return append(f.Append(nil), p...), err
		}},
	{"Attach", append(Attach{Op: 3}.Append(nil), "name"...), AttachSize, func(b []byte) ([]byte, error) {
		f, p, err := ParseAttach(b)
		return append(f.Append(nil), p...), err
	}},
	{"Revoke", append(Revoke{Channel: 3, By: 4, Gone: Nobody}.Append(nil), "why"...), RevokeSize,
		func(b []byte) ([]byte, error) {
			f, p, err := ParseRevoke(b)
			return append(f.Append(nil), p...), err
		}},
	{"Fence", Fence{Channel: 3, Number: 4, Seq: 1 << 31}.Append(nil), FenceSize, func(b []byte) ([]byte, error) {
		f, err := ParseFence(b)
		return f.Append(nil), err
	}},
	{"FenceAck", FenceAck{Channel: 3, Number: 4, Ack: 1 << 31, Room: 5}.Append(nil), FenceAckSize,
		func(b []byte) ([]byte, error) {
			f, err := ParseFenceAck(b)
			return f.Append(nil), err
		}},
	{"Push", append(Push{End: true, Op: 1, Region: 2, Key: 3, Off: 4, Limit: 10}.Append(nil), "pushed"...), PushSize,
		func(b []byte) ([]byte, error) {
			f, p, err := ParsePush(b)
			return append(f.Append(nil), p...), err
		}},
	{"Put", append(Put{Region: 1, Key: 2, Off: 3}.Append(nil), "put"...), PutSize, func(b []byte) ([]byte, error) {
		f, p, err := ParsePut(b)
		return append(f.Append(nil), p...), err
	}},
	{"Pulled", append(Pulled{End: true, Op: 1, Off: 4}.Append(nil), "pulled"...), PulledSize,
		func(b []byte) ([]byte, error) {
			f, p, err := ParsePulled(b)
			return append(f.Append(nil), p...), err
		}},
}

func TestFramesComeBack(t *testing.T) {
	for _, c := range codecs {
		made, err := c.again(c.sample)
		if err != nil || !bytes.Equal(made, c.sample) {
			t.Errorf("%s: %x became %x: %v", c.name, c.sample, made, err)
		}
		if c.size > MaxHead && c.name != "Link" {
			t.Errorf("%s: a head of %d bytes is longer than MaxHead", c.name, c.size)
		}
	}
}

func TestTruncatedFramesAreRefused(t *testing.T) {
	for _, c := range codecs {
		for n := range c.size {
			if _, err := c.again(c.sample[:n]); !errors.Is(err, ErrShort) {
				t.Errorf("%s cut to %d bytes: %v", c.name, n, err)
			}
		}
	}
}

func TestOtherTypesAreRefused(t *testing.T) {
	for _, c := range codecs {
		b := bytes.Clone(c.sample)
		b[0] ^= 0x80
		if _, err := c.again(b); err == nil {
			t.Errorf("%s: type %#x was accepted", c.name, b[0])
		}
	}
}

// A flipped bit is either refused or comes back as it was: there are no bits
// that a parser does not look at, where a peer could hide something.
func TestEveryBitMatters(t *testing.T) {
	for _, c := range codecs {
		for bit := range 8 * len(c.sample) {
			b := bytes.Clone(c.sample)
			b[bit/8] ^= 1 << (bit % 8)
			if made, err := c.again(b); err == nil && !bytes.Equal(made, b) {
				t.Errorf("%s: bit %d of byte %d is ignored", c.name, bit%8, bit/8)
			}
		}
	}
}

func TestOffsets(t *testing.T) {
	for _, name := range []string{"Data", "Piece", "Push", "Pulled", "IPush"} {
		for _, c := range codecs {
			if c.name != name {
				continue
			}
			head := bytes.Clone(c.sample[:c.size])
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
	for _, c := range codecs {
		f.Add(c.sample)
		f.Add(c.sample[:len(c.sample)-1])
	}
	for _, c := range codecs {
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
