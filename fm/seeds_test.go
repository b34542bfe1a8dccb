package fm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"weft"
	"weft/fm"
	"weft/internal/explore"
)

// A world is what the ranks of a simulated job know together.
type world struct {
	ranks   int
	packet  int // bytes
	packets int
	dead    int // the rank that crashes, or -1
}

// A player is a rank that sends messages at random, in random pieces, and checks those that it receives.
type player struct {
	*world
	e     *fm.Endpoint
	rnd   *rand.Rand
	sent  []byte // numbers of messages, by rank
	taken []byte
	echo  []echo // answers that a handler could not send
	echos int    // that have come
	asked int    // that must come
	fins  map[int]bool
	gone  map[int]bool
	wrong error
}

type echo struct{ to, length int }

func (w *player) fail(format string, args ...any) error {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
	}
	return w.wrong
}

// What the handlers are, by index.
const (
	take   = iota // all of it
	skim          // half of it
	answer        // a part, and then sends a message of one packet back
	answered
	fin
)

func (w *player) table() []fm.Handler {
	return []fm.Handler{
		{Name: "take", Func: func(m *fm.Message) error { return w.receive(m, m.Length) }},
		{Name: "skim", Func: func(m *fm.Message) error { return w.receive(m, m.Length/2) }},
		{Name: "answer", Func: func(m *fm.Message) error {
			if err := w.receive(m, m.Length/3); err != nil {
				return err
			}
			s, err := m.BeginMessage(m.From, m.Length%1000, answered)
			if err == fm.ErrNoCredit || errors.Is(err, weft.ErrTooLong) {
				w.echo = append(w.echo, echo{m.From, m.Length % 1000})
				return nil
			}
			if err == nil {
				err = s.EndMessage(context.Background())
			}
			return err
		}},
		{Name: "answered", Func: func(m *fm.Message) error { w.echos++; return nil }},
		{Name: "fin", Func: func(m *fm.Message) error { w.fins[m.From] = true; return nil }},
	}
}

// receive receives the first bytes of a message: its number, and then what follows from it.
func (w *player) receive(m *fm.Message, n int) error {
	var b [1500]byte
	number := byte(0)
	for at := 0; at < n; {
		k := min(1+w.rnd.IntN(len(b)), n-at)
		if _, err := m.Receive(b[:k]); err != nil {
			return err
		}
		for i := range k {
			if at+i == 0 {
				if number = b[0]; number != w.taken[m.From] {
					return w.fail("rank %d takes message %d of rank %d, not %d", w.e.Rank(), number, m.From, w.taken[m.From])
				}
			} else if want := number + byte(3*(at+i)); b[i] != want {
				return w.fail("byte %d of message %d of rank %d is %d, not %d", at+i, number, m.From, b[i], want)
			}
		}
		at += k
	}
	w.taken[m.From]++
	return nil
}

// send sends a message in random pieces.
func (w *player) send(ctx context.Context, p *weft.Proc, to int) error {
	h := w.rnd.IntN(answer + 1)
	length := 3 + w.rnd.IntN(1000)
	if w.rnd.IntN(3) == 0 {
		length += w.rnd.IntN(120000)
	}
	s, err := w.e.BeginMessage(to, length, h)
	if err == fm.ErrNoCredit || errors.Is(err, weft.ErrTooLong) {
		s, err = w.e.BeginMessageWait(ctx, to, length, h)
	}
	if err != nil {
		return err
	}
	b := make([]byte, length)
	b[0] = w.sent[to]
	for i := 1; i < length; i++ {
		b[i] = b[0] + byte(3*i)
	}
	for len(b) > 0 {
		n := 1 + w.rnd.IntN(len(b))
		if err := s.SendPiece(ctx, b[:n]); err != nil {
			return err
		}
		if b = b[n:]; w.rnd.IntN(4) == 0 {
			if err := p.Sleep(ctx, time.Duration(w.rnd.IntN(5))*time.Microsecond); err != nil {
				_ = s.EndMessage(ctx)
				return err
			}
		}
	}
	if err := s.EndMessage(ctx); err != nil {
		return err
	}
	w.sent[to]++
	if h == answer {
		w.asked++
	}
	return nil
}

// excuse returns nil for errors that must be: a rank has crashed.
func (w *player) excuse(err error) error {
	var gone *weft.PeerError
	if w.wrong != nil {
		return w.wrong
	}
	if errors.As(err, &gone) && gone.Rank == w.dead {
		w.gone[gone.Rank] = true
		return nil
	}
	return err
}

// until extracts until cond holds, and sends what handlers could not.
func (w *player) until(ctx context.Context, cond func() bool) error {
	for {
		err := w.e.Until(ctx, func() bool { return cond() || len(w.echo) > 0 || w.wrong != nil })
		if err == nil && w.wrong == nil && len(w.echo) == 0 {
			return nil
		}
		if err = w.excuse(err); err != nil {
			return err
		}
		if len(w.echo) > 0 {
			a := w.echo[0]
			w.echo = w.echo[1:]
			s, err := w.e.BeginMessageWait(ctx, a.to, a.length, answered)
			if err == nil {
				err = s.EndMessage(ctx)
			}
			if err = w.excuse(err); err != nil {
				return err
			}
		}
	}
}

func (w *player) play(ctx context.Context, p *weft.Proc, ops int) error {
	var err error
	if w.e, err = fm.Open(ctx, p, 3, w.table(), &fm.Config{Packet: w.packet, Packets: w.packets}); err != nil {
		return err
	}
	defer w.e.Close()
	others := w.ranks - 1
	for range ops {
		to := (w.e.Rank() + 1 + w.rnd.IntN(others)) % w.ranks
		err := w.send(ctx, p, to)
		if err == nil && w.rnd.IntN(3) == 0 {
			_, err = w.e.Extract(w.rnd.IntN(20000))
		}
		if err != nil {
			if err := w.excuse(err); err != nil {
				return err
			}
		}
	}
	if err := w.until(ctx, func() bool { return w.echos == w.asked || w.dead >= 0 }); err != nil {
		return err
	}
	for to := range w.ranks {
		if to == w.e.Rank() {
			continue
		}
		s, err := w.e.BeginMessageWait(ctx, to, 0, fin)
		if err == nil {
			err = s.EndMessage(ctx)
		}
		if err = w.excuse(err); err != nil {
			return err
		}
	}
	if err := w.until(ctx, func() bool {
		for to := range w.ranks {
			if to != w.e.Rank() && !w.fins[to] && !w.gone[to] {
				return false
			}
		}
		return true
	}); err != nil {
		return err
	}
	if w.dead < 0 {
		if err := w.e.Barrier(ctx); err != nil {
			return err
		}
	}
	if s := w.e.Stats(); s.Strange > 0 || w.dead < 0 && w.echos != w.asked {
		return w.fail("rank %d: %+v, %d answers of %d", w.e.Rank(), s, w.echos, w.asked)
	}
	return w.wrong
}

// runSeed plays one job, and returns what went wrong.
func runSeed(seed uint64) error {
	rnd := rand.New(rand.NewPCG(seed, 1))
	c := weft.Cluster{Ranks: 2 + rnd.IntN(4), Seed: seed, Liveness: 20 * time.Millisecond}
	c.PerHost = 1 + rnd.IntN(2)
	if rnd.IntN(2) == 0 {
		c.Loss = rnd.Float64() * 0.05
	}
	dead := -1
	struck := rnd.IntN(c.Ranks)
	at := weft.Operations{Rank: struck, Count: 10 + rnd.IntN(100)}
	switch rnd.IntN(4) {
	case 0:
		dead = struck
		c.Faults = []weft.Fault{{Kind: weft.Crash, Ranks: []int{struck}, After: at}}
	case 1:
		c.Faults = []weft.Fault{{Kind: weft.Pause, Ranks: []int{struck}, After: at, For: 3 * time.Millisecond}}
	case 2:
		c.Faults = []weft.Fault{{Kind: weft.Slow, Ranks: []int{struck}, After: at, For: 5 * time.Millisecond,
			Delay: 300 * time.Microsecond}}
	}
	w := &world{ranks: c.Ranks, dead: dead, packets: (2 + rnd.IntN(5)) * (c.Ranks - 1)}
	w.packet = 256 << rnd.IntN(8)
	if w.packet <= 4096 && rnd.IntN(2) == 0 {
		w.packets *= 9
	}
	ops := 10 + rnd.IntN(30)
	_, err := weft.Simulate(context.Background(), c, func(ctx context.Context, p *weft.Proc) error {
		q := &player{world: w, rnd: rand.New(rand.NewPCG(seed, uint64(p.Rank())+2)), sent: make([]byte, c.Ranks),
			taken: make([]byte, c.Ranks), fins: map[int]bool{}, gone: map[int]bool{}}
		err := q.play(ctx, p, ops)
		if p.Rank() == dead && errors.Is(err, weft.ErrClosed) {
			return nil
		}
		return err
	})
	return err
}

// TestSeeds plays jobs at random, with losses, pauses, slow ranks and crashes: no message is lost, doubled or out of
// order, every byte is the right one, nothing deadlocks, and no more credits are about than were given out.
func TestSeeds(t *testing.T) {
	if raceEnabled {
		t.Skip("the goroutines of the simulator take turns")
	}
	for seed := range explore.Choose[uint64](25, 100) {
		if err := runSeed(seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
