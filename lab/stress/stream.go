package stress

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"weft"
)

// stream: every member sends to every member on one channel, by several goroutines, in
// all the ways that there are, and receives by several, in all ways.
func stream(s *scene) {
	senders := 1 + s.shared.IntN(3)
	count := s.scaled(10 + s.shared.IntN(150))
	a := s.actor(s.name + " port")
	defer a.end()
	port, ok := open(a, s.channel)
	if !ok {
		return
	}
	l := newLedger(a, s.number, s.members, senders)
	s.note(l)
	ctx, cancel := context.WithCancel(s.ctx)
	receivers := crew{p: a.p}
	sending := crew{p: a.p}
	receiving := 1 + a.rng.IntN(4)
	l.several = receiving > 1
	for i := range receiving {
		s.act2(&receivers, fmt.Sprintf("receiver %d", i), func(a *actor) { receive(a, ctx, port, l, i == 0) })
	}
	if receiving > 1 && a.rng.IntN(3) == 0 {
		from := s.members[a.rng.IntN(len(s.members))]
		s.act2(&receivers, "receiver of one", func(a *actor) { receiveFrom(a, ctx, port, l, from) })
	}
	for i := range senders {
		s.act2(&sending, fmt.Sprintf("sender %d", i), func(a *actor) { send(a, s, port, i, count) })
	}
	s.hearAll(a, ctx, port, l)
	a.do("wait for the own senders", func() error { sending.Wait(); return nil })
	if a.rng.IntN(2) == 0 {
		cancel() // the receivers end with their context, else with the port
	}
	if a.rng.IntN(2) == 0 {
		a.do("wait for the own receivers", func() error { cancel(); receivers.Wait(); return nil })
	}
	a.call("Port.Close", port.Close)
	cancel()
	a.do("wait for the own receivers", func() error { receivers.Wait(); return nil })
}

// hearAll returns when everything has come that is to come. Of ranks that leave in good
// order it receives what is left itself: a receive from such a rank ends with an error
// when nothing is left.
func (s *scene) hearAll(a *actor, ctx context.Context, port *weft.Port, l *ledger) {
	done := &flag{r: s.rank}
	group := crew{p: a.p}
	group.Go(func() {
		s.goodbyes(done, func(rank int) {
			if !l.over(rank) {
				s.act2(&group, fmt.Sprintf("last words of %d", rank), func(a *actor) { drain(a, ctx, port, l, rank) })
			}
		})
	})
	a.all(l)
	done.raise()
	a.do("wait for the last words", func() error { group.Wait(); return nil })
}

// drain receives what a rank has sent that has left.
func drain(a *actor, ctx context.Context, port *weft.Port, l *ledger, rank int) {
	r := l.reader()
	for !l.over(rank) {
		var m weft.Message
		err := a.do(fmt.Sprintf("RecvFrom(%d), which has left", rank), func() (err error) {
			m, err = port.RecvFrom(ctx, rank)
			return err
		})
		if a.judge("RecvFrom", err, true) != fine {
			l.gone(rank)
			return
		}
		r.take(m.From, m.Data)
		m.Release()
	}
}

// open opens a port of any shape.
func open(a *actor, channel int) (port *weft.Port, ok bool) {
	size := func() int {
		return []int{0, 64 << 10, 64 << 10, 64<<10 + a.rng.IntN(64<<10), 256 << 10, 4 << 20}[a.rng.IntN(6)]
	}
	cfg := &weft.PortConfig{RecvBuffer: size(), SendBuffer: size(), Flow: weft.FlowControl(max(a.rng.IntN(8)-4, 0))}
	v := a.call("Open", func() (err error) {
		port, err = a.p.OpenPort(channel, cfg)
		return err
	})
	return port, v == fine
}

// send sends count messages to the members, and to each the end.
func send(a *actor, s *scene, port *weft.Port, number, count int) {
	out := &outgoing{a: a, s: s, port: port, number: number, gone: map[int]bool{}, seq: map[int]uint32{},
		maybe: map[int][]uint32{}, diary: newDiary(a.name)}
	s.note(out.diary)
	small := a.rng.IntN(3) == 0
	for range count {
		to := s.members[a.rng.IntN(len(s.members))]
		if out.gone[to] {
			continue
		}
		n := length(a.rng)
		if small {
			n = least + a.rng.IntN(100)
		}
		out.one(to, n)
		if a.quit {
			return
		}
	}
	out.settle()
	for _, to := range s.members {
		if !out.gone[to] && !a.quit {
			out.end(to)
		}
	}
	if a.quit {
		return
	}
	for { // one that ends soon must not disturb the others
		ctx := a.ctx
		cancel := context.CancelFunc(func() {})
		if a.rng.IntN(3) == 0 {
			ctx, cancel = a.brief(a.ctx)
		}
		err := a.do("Flush", func() error { return port.Flush(ctx) })
		cancel()
		if a.judge("Flush", err, ctx != a.ctx) != later {
			return
		}
	}
}

// outgoing is what a sender knows of its messages.
type outgoing struct {
	a      *actor
	s      *scene
	port   *weft.Port
	number int
	gone   map[int]bool // ranks
	seq    map[int]uint32
	maybe  map[int][]uint32 // messages that need not arrive
	begun  []begun
	*diary
}

// begun is a message that StartSend has begun.
type begun struct {
	op  *weft.Op
	to  int
	seq uint32
}

// message returns a message of n bytes for a rank, labelled with its number and filled so that a receiver can check
// it.
func (o *outgoing) message(to, n int) []byte {
	b := make([]byte, n)
	o.label(to, data).pack(b)
	return b
}

func (o *outgoing) label(to int, kind uint8) label {
	return label{scene: o.s.number, from: o.a.p.Rank(), actor: o.number, seq: o.seq[to], kind: kind}
}

// ways are those that a message can be sent in.
var ways = []string{"Send", "Send", "Send", "Send that ends", "TrySend", "TrySend", "Reserve", "Reserve", "StartSend",
	"StartSend"}

// outcome says in a word what became of an operation.
func outcome(err error) string {
	var unknown *weft.UnknownOutcomeError
	switch {
	case errors.As(err, &unknown):
		return "unknown"
	case err != nil:
		return "failed"
	default:
		return "done"
	}
}

// one sends a message in one of the ways that there are. If it has not been sent, the
// next one has its number.
func (o *outgoing) one(to, n int) {
	a := o.a
	if a.spoil != "" && a.rng.IntN(50) == 0 {
		o.wrong(to)
		return
	}
	var v verdict
	way := a.rng.IntN(len(ways))
	switch {
	case way < 3:
		b := o.message(to, n)
		v = a.call(fmt.Sprintf("Send(%d, %d bytes)", to, n), func() error { return o.port.Send(a.ctx, to, b) })
	case way < 4:
		b := o.message(to, n)
		ctx, cancel := a.brief(a.ctx)
		err := a.do(fmt.Sprintf("Send(%d, %d bytes) with a context that ends", to, n),
			func() error { return o.port.Send(ctx, to, b) })
		v = a.judge("Send", err, true)
		cancel()
		o.wrote(to, o.seq[to], n, "Send-"+outcome(err))
		var unknown *weft.UnknownOutcomeError
		if errors.As(err, &unknown) {
			o.unsure(to, o.seq[to])
			o.seq[to]++
		}
	case way < 6:
		b := o.message(to, min(n, 32<<10))
		err := a.do(fmt.Sprintf("TrySend(%d, %d bytes)", to, len(b)), func() error { return o.port.TrySend(to, b) })
		if v = a.judge("TrySend", err, false); v == later {
			a.pause()
		}
	case way < 8:
		v = o.reserve(to, n)
	default:
		o.start(to, n)
		return
	}
	switch v {
	case fine:
		o.wrote(to, o.seq[to], n, ways[way])
		o.seq[to]++
	case gone, failed:
		o.gone[to] = true
	}
}

// reserve writes a message in place.
func (o *outgoing) reserve(to, n int) verdict {
	a := o.a
	var d weft.Draft
	ctx := a.ctx
	cancel := context.CancelFunc(func() {})
	if a.rng.IntN(4) == 0 {
		ctx, cancel = a.brief(a.ctx)
	}
	err := a.do(fmt.Sprintf("Reserve(%d, %d bytes)", to, n), func() (err error) {
		d, err = o.port.Reserve(ctx, to, n)
		return err
	})
	cancel()
	if v := a.judge("Reserve", err, ctx != a.ctx); v != fine {
		return v
	}
	o.label(to, data).pack(d.Data)
	if a.rng.IntN(3) == 0 {
		a.pause()
	}
	if a.rng.IntN(8) == 0 {
		d.Discard()
		return later
	}
	return a.call(fmt.Sprintf("Commit(%d, %d bytes)", to, n), func() error { return d.Commit(a.ctx) })
}

// start begins a message, of which settle waits for the outcome.
func (o *outgoing) start(to, n int) {
	a := o.a
	b := o.message(to, n)
	var m *weft.Op
	v := a.call(fmt.Sprintf("StartSend(%d, %d bytes)", to, n), func() (err error) {
		m, err = o.port.StartSend(to, b)
		return err
	})
	if v != fine {
		o.gone[to] = o.gone[to] || v == gone || v == failed
		return
	}
	o.begun = append(o.begun, begun{m, to, o.seq[to]})
	o.wrote(to, o.seq[to], n, "StartSend")
	o.seq[to]++
	if len(o.begun) > a.rng.IntN(6) {
		o.settle()
	}
}

// settle waits for the messages that have been begun, in any order. Messages that are given
// up need not arrive.
func (o *outgoing) settle() {
	a := o.a
	a.rng.Shuffle(len(o.begun), func(i, j int) { o.begun[i], o.begun[j] = o.begun[j], o.begun[i] })
	for _, m := range o.begun {
		ctx := a.ctx
		cancel := context.CancelFunc(func() {})
		if a.rng.IntN(8) == 0 {
			ctx, cancel = a.brief(a.ctx)
		}
		err := a.do(fmt.Sprintf("Wait for the StartSend of message %d to %d", m.seq, m.to),
			func() error { return m.op.Wait(ctx) })
		cancel()
		switch a.judge("Op.Wait", err, ctx != a.ctx) {
		case fine:
			m.op.Free()
			continue
		case later:
			o.unsure(m.to, m.seq)
		case gone, failed:
			o.gone[m.to] = true
		}
		o.wrote(m.to, m.seq, 0, "given up-"+outcome(err))
	}
	o.begun = o.begun[:0]
}

func (o *outgoing) unsure(to int, seq uint32) { o.maybe[to] = append(o.maybe[to], seq) }

// wrong does what the checks must find.
func (o *outgoing) wrong(to int) {
	a := o.a
	b := o.message(to, 100)
	again := func(b []byte) {
		a.call("Send", func() error { return o.port.Send(a.ctx, to, b) })
	}
	switch a.spoil {
	case "lose":
		o.seq[to]++
	case "repeat":
		again(b)
		again(b)
		o.seq[to]++
	case "damage":
		b[50] ^= 1
		again(b)
		o.seq[to]++
	case "reorder":
		o.seq[to]++
		c := o.message(to, 100)
		again(c)
		again(b)
		o.seq[to]++
	case "hang":
		a.do("hang", func() error { return a.await(a.ctx, func() bool { return false }) })
	case "panic":
		panic("as asked")
	}
}

// end tells a receiver that it has everything.
func (o *outgoing) end(to int) {
	b := make([]byte, least+4*len(o.maybe[to]))
	o.label(to, fin).head(b)
	for i, seq := range o.maybe[to] {
		binary.LittleEndian.PutUint32(b[least+4*i:], seq)
	}
	seal(b)
	o.a.call(fmt.Sprintf("Send(%d) of the end", to), func() error { return o.port.Send(o.a.ctx, to, b) })
}
