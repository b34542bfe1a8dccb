package stress

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"weft"
)

// receive receives until the context ends. Blocks says that it must be ready for long
// messages, which TryRecv does not take.
func receive(a *actor, ctx context.Context, port *weft.Port, l *ledger, blocks bool) {
	r := l.reader()
	loans := loans{rng: a.rng, most: 2 << 10}
	defer loans.end()
	buf := make([]byte, 64+a.rng.IntN(40<<10))
	for !a.quit && ctx.Err() == nil {
		way := a.rng.IntN(10)
		if blocks {
			way %= 8
		}
		var m weft.Message
		var err error
		switch {
		case way < 4:
			err = a.do("Recv", func() error { m, err = port.Recv(ctx); return err })
		case way < 6:
			brief, cancel := a.brief(ctx)
			err = a.do("Recv with a context that ends", func() error { m, err = port.Recv(brief); return err })
			cancel()
		case way < 8:
			buf, err = receiveInto(a, ctx, port, r, buf)
			if err == nil {
				continue
			}
		default:
			if err = a.do("TryRecv", func() error { m, err = port.TryRecv(); return err }); errors.Is(err, weft.ErrWouldBlock) {
				a.pause()
			}
		}
		if err == nil {
			a.progress.Add(1)
			r.take(m.From, m.Data)
			loans.add(m)
			if a.rng.IntN(20) == 0 {
				a.pause()
			}
			continue
		}
		if errors.Is(err, weft.ErrClosed) && l.over(-1) {
			return // the scene has ended, and its port is closed
		}
		var peer *weft.PeerError
		if errors.As(err, &peer) && peer.Clean {
			continue // its last words are received by drain
		} else if peer != nil {
			l.gone(peer.Rank)
		}
		if v := a.judge("Recv", err, true); v == failed || v == over {
			return
		}
	}
}

// receiveInto receives a message into buf. If that is too short for it, it returns a longer buffer for the next
// try.
func receiveInto(a *actor, ctx context.Context, port *weft.Port, r *reader, buf []byte) ([]byte, error) {
	var n, from int
	err := a.do(fmt.Sprintf("RecvInto %d bytes", len(buf)), func() (err error) {
		n, from, err = port.RecvInto(ctx, buf)
		return err
	})
	var long *weft.TooLongError
	if errors.As(err, &long) {
		return make([]byte, max(long.Size, 2*len(buf))), nil
	}
	if err == nil {
		a.progress.Add(1)
		r.take(from, buf[:n])
	}
	return buf, err
}

// receiveFrom receives from one rank until all of it has come.
func receiveFrom(a *actor, ctx context.Context, port *weft.Port, l *ledger, rank int) {
	r := l.reader()
	for !a.quit && ctx.Err() == nil && !l.over(rank) {
		var m weft.Message
		err := a.do(fmt.Sprintf("RecvFrom(%d)", rank), func() (err error) {
			m, err = port.RecvFrom(ctx, rank)
			return err
		})
		if errors.Is(err, weft.ErrClosed) && l.over(-1) {
			return
		}
		switch a.judge("RecvFrom", err, true) {
		case fine:
			r.take(m.From, m.Data)
			m.Release()
		case gone:
			l.gone(rank)
			return
		case failed:
			return
		}
	}
}

// loans are messages that are given back later, in any order, up to so many bytes.
type loans struct {
	rng        *rand.Rand
	most, held int
	all        []weft.Message
}

// add keeps a message on loan for a while. If too many bytes are on loan it releases messages, in any order.
func (l *loans) add(m weft.Message) {
	l.all = append(l.all, m)
	for l.held += len(m.Data); l.held > l.most || len(l.all) > 4; {
		i := l.rng.IntN(len(l.all))
		l.held -= len(l.all[i].Data)
		l.all[i].Release()
		l.all[i] = l.all[len(l.all)-1]
		l.all = l.all[:len(l.all)-1]
	}
}

// end releases all messages.
func (l *loans) end() {
	for i := range l.all {
		l.all[i].Release()
	}
}
