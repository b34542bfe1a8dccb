package perf

import (
	"context"
	"encoding/binary"
	"errors"

	"weft"
	"weft/am"
	"weft/fm"
	"weft/pm"
	"weft/vmmc"
)

// A Buffer is the memory that a process holds for messages of one library that its program does not take: one line
// of -json.
type Buffer struct {
	Test   string `json:"test"` // "buffers"
	Way    string `json:"way"`
	Ranks  int    `json:"ranks"`
	Opened uint64 `json:"opened_bytes"` // when all ranks have opened their endpoints
	Full   uint64 `json:"full_bytes"`   // when every other rank has sent what it can, up to 256 KiB
	Sent   int    `json:"sent_bytes"`   // by all of them together
	Error  string `json:"error,omitempty"`
}

// sends is how many bytes each rank tries to send in MeasureBuffers.
const sends = 256 << 10

// MeasureBuffers lets all other ranks send to rank 0, which takes no message, and returns the memory that rank 0
// then holds (weft.Stats).
func MeasureBuffers(ctx context.Context, way, transport string, ranks int) Buffer {
	r := Buffer{Test: "buffers", Way: way, Ranks: ranks}
	s := Spec{Test: "buffers", Op: way, Transport: transport, Sizes: []int{0}, N: ranks}
	samples, err := runRanks(ctx, "weft", ranks, s)
	switch {
	case err != nil:
		r.Error = err.Error()
	case len(samples) != 1 || samples[0].Buffer == nil:
		r.Error = "rank 0 printed no figures"
	default:
		got := samples[0].Buffer
		r.Opened = got.Opened
		r.Full = got.Full
		r.Sent = got.Sent
	}
	return r
}

// buffers is the part of one rank in MeasureBuffers.
func (b *bench) buffers() error {
	barrier := b.p.Barrier("buffers", nil)
	if err := barrier.Wait(b.ctx); err != nil {
		return err
	}
	before := b.p.Stats().MemoryBytes
	fill, close, err := filler(b.ctx, b.p, b.spec.Op)
	if err != nil {
		return err
	}
	if err := barrier.Wait(b.ctx); err != nil {
		return err
	}
	var r Buffer
	if b.p.Rank() == 0 {
		r.Opened = b.p.Stats().MemoryBytes - before
	} else if r.Sent, err = fill(); err != nil {
		return err
	}
	if err := barrier.Wait(b.ctx); err != nil {
		return err
	}
	if b.p.Rank() > 0 {
		if err := b.q.Send(b.ctx, 0, binary.LittleEndian.AppendUint64(nil, uint64(r.Sent))); err != nil {
			return err
		}
	} else if err := b.held(&r, before); err != nil {
		return err
	}
	if err := barrier.Wait(b.ctx); err != nil {
		return err
	}
	return close()
}

// held emits the memory that rank 0 holds, after all ranks have told how much they sent.
func (b *bench) held(r *Buffer, before uint64) error {
	for range b.p.Size() - 1 {
		m, err := b.q.Recv(b.ctx)
		if err != nil {
			return err
		}
		r.Sent += int(binary.LittleEndian.Uint64(m.Data))
		m.Release()
	}
	r.Full = b.p.Stats().MemoryBytes - before // what was sent before has come
	return emit(Sample{Buffer: r})
}

// filler opens a library. It returns a function that sends to rank 0 until no more is accepted, and one that closes
// the library.
func filler(ctx context.Context, p *weft.Proc, way string) (fill func() (int, error), close func() error, err error) {
	b := make([]byte, 8<<10)
	switch way {
	case "am":
		e, err := am.Open(ctx, p, libraryChannel, []am.Handler{{Name: "in", Func: func(*am.Call) error { return nil }}}, nil)
		medium := b[:am.MaxMedium]
		times := 0
		return filled(len(medium), func() error {
			if times++; times > 4 { // the depth
				return weft.ErrWouldBlock
			}
			return e.RequestMedium(ctx, 0, 0, medium)
		}), func() error { return e.Close() }, err
	case "fm":
		handlers := []fm.Handler{{Name: "in", Func: func(*fm.Message) error { return nil }}}
		e, err := fm.Open(ctx, p, libraryChannel, handlers, nil)
		b = b[:7<<10] // one packet
		return filled(len(b), func() error {
			s, err := e.BeginMessage(0, len(b), 0)
			if errors.Is(err, fm.ErrNoCredit) {
				return weft.ErrWouldBlock
			}
			if err != nil {
				return err
			}
			return errors.Join(s.SendPiece(ctx, b), s.EndMessage(ctx))
		}), func() error { return e.Close() }, err
	case "pm":
		x, err := pm.Open(ctx, p, libraryChannel, nil)
		return filled(len(b), func() error {
			if _, err := x.GetSendBuffer(0, len(b)); err != nil {
				return err
			}
			return x.Send()
		}), func() error { return x.Close() }, err
	case "vmmc":
		return vmmcFiller(ctx, p, b)
	}
	q, err := p.OpenPort(libraryChannel, nil)
	return filled(len(b), func() error { return q.TrySend(0, b) }), func() error { return q.Close() }, err
}

// vmmcFiller sends to an export of 8 KiB for each rank, which is memory of the program.
func vmmcFiller(ctx context.Context, p *weft.Proc, b []byte) (fill func() (int, error), close func() error, err error) {
	e, err := vmmc.Open(p, libraryChannel, nil)
	if err != nil {
		return nil, nil, err
	}
	if p.Rank() == 0 {
		if _, err := e.Export(ctx, "in", len(b)*p.Size(), nil); err != nil {
			return nil, nil, err
		}
		return nil, e.Close, nil
	}
	i, err := e.Import(ctx, 0, "in")
	return filled(len(b), func() error { return i.Send(ctx, len(b)*p.Rank(), b) }), e.Close, err
}

// filled calls send until it would have to wait or has sent enough.
func filled(size int, send func() error) func() (int, error) {
	return func() (n int, err error) {
		for n+size <= sends {
			err := send()
			if errors.Is(err, weft.ErrWouldBlock) {
				break
			}
			if err != nil {
				return n, err
			}
			n += size
		}
		return n, nil
	}
}
