package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/engine/msg"
	"weft/internal/engine/wire"
	"weft/internal/explore"
	"weft/internal/monotime"
)

// twins are rank 0 of a job, twice, which get the same frames and operations. The second one takes messages straight
// from their frames where it can. The first one is never asked to.
type twins struct {
	r     *rand.Rand
	ranks [2]*Engine
	ports [2][twinChannels]*msg.Port
	lanes [2][twinPeers + 1]*lane
	ops   [2][]*msg.Op    // of which none has ended; see owner
	loans [2][]*msg.Block // with the port's number
	of    []int           // loans' ports
	next  int             // number of the next operation

	peers     [twinPeers + 1]*Engine
	peerPorts [twinPeers + 1][twinChannels]*msg.Port
	coming    [twinPeers + 1][][]byte // frames on their way to rank 0

	taken int  // straight
	tight bool // messages are long, and stay on loan: many are refused
}

const (
	twinPeers    = 2
	twinChannels = 2
)

var twinMessages = msg.Config{RecvBuffer: 64 << 10, SendBuffer: 64 << 10}

func newTwins(seed uint64) (*twins, error) {
	w := &twins{r: rand.New(rand.NewPCG(seed, 7)), tight: seed%2 == 1}
	for i := range w.ranks {
		w.ranks[i] = twinEngine(0)
		for rank := 1; rank <= twinPeers; rank++ {
			w.lanes[i][rank] = &lane{room: 1 << 10}
			w.ranks[i].Connect(1, rank, Path{MTU: 12 << 10, Lane: w.lanes[i][rank], Beats: rank == 1})
		}
		for c := range twinChannels {
			p, err := w.ranks[i].Msg.Open(uint16(c), w.config(c))
			if err != nil {
				return nil, err
			}
			w.ports[i][c] = p
		}
	}
	for rank := 1; rank <= twinPeers; rank++ {
		w.peers[rank] = twinEngine(rank)
		w.peers[rank].Connect(1, 0, Path{MTU: 12 << 10})
		for c := range twinChannels {
			p, err := w.peers[rank].Msg.Open(uint16(c), twinMessages)
			if err != nil {
				return nil, err
			}
			w.peerPorts[rank][c] = p
		}
	}
	return w, nil
}

func twinEngine(rank int) *Engine {
	n := uint64(rank)
	return New(Config{
		Rank: rank, Size: twinPeers + 1, Job: 1, Secret: make([]byte, 32), Incarnation: 1,
		Rand: func() uint64 { n++; return n },
	})
}

// config gives each channel a flow control of its own.
func (w *twins) config(c int) msg.Config {
	cfg := twinMessages
	cfg.Flow = msg.FlowControl(c % len(msg.FlowControls))
	return cfg
}

// step does something.
func (w *twins) step() error {
	rank := 1 + w.r.IntN(twinPeers)
	c := w.r.IntN(twinChannels)
	switch w.r.IntN(16) {
	case 0, 1, 2, 3:
		w.peerSends(rank, c)
	case 4:
		w.polls(rank)
	case 5, 6, 7, 8, 9:
		return w.receives(rank, c)
	case 10, 11:
		w.sends(rank, c)
	case 12:
		if !w.tight || w.r.IntN(4) == 0 {
			w.releases()
		}
	case 13:
		w.peerHears(rank)
	case 14:
		w.changes(rank, c)
	default:
		for i := range w.ranks {
			w.lanes[i][rank].room = 1 << (10 * (w.taken % 2))
		}
	}
	return nil
}

// polls hands the next frame of a peer to both.
func (w *twins) polls(rank int) {
	if f := w.first(rank); f != nil {
		for _, e := range w.ranks {
			e.Recv(1, rank, f)
		}
	}
}

// receives starts a receive, and hands over the next frame of a peer. If the port expects a message, the second twin
// is asked to take it straight.
func (w *twins) receives(rank, c int) error {
	if next := w.coming[rank]; len(next) > 0 && len(next[0]) >= 4 && w.r.IntN(4) > 0 {
		c = int(next[0][2]) % twinChannels // of the frame that comes
	}
	from := rank
	if w.r.IntN(2) == 0 {
		from = msg.Any
	}
	var bufs [2][]byte
	if w.r.IntN(3) > 0 && !(w.tight && w.r.IntN(2) == 0) {
		size := []int{0, 8, 300, 32 << 10, 32 << 10}[w.r.IntN(5)]
		bufs = [2][]byte{make([]byte, size), make([]byte, size)}
	}
	expects := w.ports[0][c].Expects(from)
	if expects != w.ports[1][c].Expects(from) {
		return errors.New("one expects a message, and the other does not")
	}
	var frame []byte
	if expects && w.r.IntN(16) > 0 {
		if frame = w.first(rank); frame == nil {
			return nil
		}
	}
	var ops [2]*msg.Op
	for i := range ops {
		ops[i] = &msg.Op{Kind: msg.Recv, Peer: from, Buf: bufs[i], Owner: w.owner(c)}
	}
	w.next++
	w.start(0, c, ops[0])
	now := monotime.Time(1 + w.taken)
	if frame != nil {
		w.ranks[0].Recv(now, rank, frame)
		seen := w.ranks[1].Sees(w.ports[1][c], rank, frame)
		got, ok := w.ranks[1].Straight(now, w.ports[1][c], rank, frame, bufs[1])
		if seen && !ok && (bufs[1] == nil || len(frame)-wire.DataSize <= len(bufs[1])) {
			return errors.New("a message that is seen is not taken")
		}
		if ok {
			return w.same(c, rank, ops[0], bufs[1], got)
		}
	}
	w.start(1, c, ops[1])
	if frame != nil {
		w.ranks[1].Recv(now, rank, frame)
	}
	if w.r.IntN(8) > 0 {
		w.cancel(c, ops)
	}
	return nil
}

// cancel takes an operation back that has not ended.
func (w *twins) cancel(c int, ops [2]*msg.Op) {
	for i, op := range ops {
		if w.ports[i][c].Cancel(op) {
			w.ops[i] = slices.DeleteFunc(w.ops[i], func(o *msg.Op) bool { return o == op })
		}
	}
}

// owner returns the owner of the next operation on a channel: its number, from which the channel follows.
func (w *twins) owner(c int) int { return w.next*twinChannels + c }

// start starts an operation at one of the two.
func (w *twins) start(i, c int, op *msg.Op) {
	w.ports[i][c].Start(op)
	if op.State == msg.Pending {
		w.ops[i] = append(w.ops[i], op)
	} else {
		w.ended(i, c, op)
	}
}

// ended keeps what an operation has on loan, and asks for the bytes of a long message.
func (w *twins) ended(i, c int, op *msg.Op) {
	if op.State == msg.Offered {
		op.Buf = make([]byte, op.Offer.Total)
		w.ports[i][c].Fetch(op)
		w.ops[i] = append(w.ops[i], op)
		return
	}
	if op.Block != nil {
		w.loans[i] = append(w.loans[i], op.Block)
		if i == 0 {
			w.of = append(w.of, c)
		}
	}
}

// same compares a message that was taken straight with that of the operation.
func (w *twins) same(c, rank int, op *msg.Op, buf []byte, got msg.Whole) error {
	w.taken++
	if op.State != msg.Done || op.Err != nil || op.From != rank || op.N != got.N || op.Seq != got.Seq ||
		(op.Block == nil) != (got.Block == nil) || !bytes.Equal(op.Buf, buf) ||
		w.ranks[0].peers[rank].watched && w.ranks[0].peers[rank].pulse != w.ranks[1].peers[rank].pulse {
		return fmt.Errorf("taken straight: %+v; the operation: %+v", got, op)
	}
	// The operation alone is to be taken back: the second twin has none.
	for ended := w.ranks[0].Msg.Finished(); ended != op; ended = w.ranks[0].Msg.Finished() {
		other := w.ranks[1].Msg.Finished()
		if ended == nil || other == nil || ended.Owner != other.Owner {
			return fmt.Errorf("%+v has ended before, and at the other %+v", ended, other)
		}
		w.forget(ended.Owner.(int))
	}
	w.ops[0] = slices.DeleteFunc(w.ops[0], func(o *msg.Op) bool { return o == op })
	if got.Block != nil {
		if !bytes.Equal(op.Block.Data(), got.Block.Data()) || op.Block.Seq() != got.Block.Seq() {
			return errors.New("the messages on loan differ")
		}
		w.ended(0, c, op)
		w.loans[1] = append(w.loans[1], got.Block)
	}
	return nil
}

// forget takes an operation off the lists.
func (w *twins) forget(number int) {
	for i := range w.ops {
		w.ops[i] = slices.DeleteFunc(w.ops[i], func(o *msg.Op) bool { return o.Owner == number })
	}
}

// sends lets both send a message.
func (w *twins) sends(rank, c int) {
	b := make([]byte, []int{8, 100, 30000}[w.r.IntN(3)])
	for i := range w.ranks {
		w.ports[i][c].Give(rank, b)
	}
	if w.r.IntN(10) > 0 {
		return
	}
	for i := range w.ranks {
		w.start(i, c, &msg.Op{Kind: msg.Flush, Peer: msg.Any, Owner: w.owner(c)})
	}
	w.next++
}

// releases gives a message back.
func (w *twins) releases() {
	if len(w.of) == 0 {
		return
	}
	at := w.r.IntN(len(w.of))
	for i := range w.ranks {
		w.ports[i][w.of[at]].Release(w.loans[i][at])
		w.loans[i] = slices.Delete(w.loans[i], at, at+1)
	}
	w.of = slices.Delete(w.of, at, at+1)
}

// changes does what is rare.
func (w *twins) changes(rank, c int) {
	what := w.r.IntN(60)
	freeze := func(i int) { w.start(i, c, &msg.Op{Kind: msg.Freeze, Owner: w.owner(c)}) }
	await := func(i int) { w.start(i, c, &msg.Op{Kind: msg.Await, Peer: msg.Any, Owner: w.owner(c)}) }
	for i, e := range w.ranks {
		p := w.ports[i][c]
		switch {
		case what < 20:
			for _, op := range slices.Clone(w.ops[i]) {
				if p.Cancel(op) {
					w.ops[i] = slices.DeleteFunc(w.ops[i], func(o *msg.Op) bool { return o == op })
				}
			}
		case what < 30 && p.Frozen():
			_ = p.Thaw()
		case what == 20:
			freeze(i)
		case what < 25:
			await(i)
		case what == 30:
			p.Close()
		case what < 45:
			if again, err := e.Msg.Open(uint16(c), w.config(c)); err == nil {
				w.ports[i][c] = again
			}
		case what == 45:
			e.Down(rank, errors.New("it is gone"), false)
		case what == 46:
			e.Returned(rank)
		case what == 47:
			p.Revoke([]int{1, 2}, 0, -1, "enough")
		case what == 48:
			e.Return()
		}
	}
	w.next++
}

// check compares the twins: what they have sent and which operations have ended, and their states if asked to.
func (w *twins) check(states bool) error {
	for {
		a := w.ranks[0].Msg.Finished()
		b := w.ranks[1].Msg.Finished()
		if a == nil && b == nil {
			break
		}
		if a == nil || b == nil || a.Owner != b.Owner || a.State != b.State || a.N != b.N || a.From != b.From ||
			a.Seq != b.Seq || !bytes.Equal(a.Buf, b.Buf) || (a.Err == nil) != (b.Err == nil) {
			return fmt.Errorf("%+v has ended, and at the other %+v", a, b)
		}
		w.forget(a.Owner.(int))
		for i, op := range []*msg.Op{a, b} {
			w.ended(i, op.Owner.(int)%twinChannels, op)
		}
	}
	out := [2]map[int][][]byte{output(w.ranks[0]), output(w.ranks[1])}
	for rank := 1; rank <= twinPeers; rank++ {
		a := w.lanes[0][rank]
		b := w.lanes[1][rank]
		a.frames = append(a.frames, out[0][rank]...)
		b.frames = append(b.frames, out[1][rank]...)
		if !slices.EqualFunc(a.frames, b.frames, bytes.Equal) {
			return fmt.Errorf("rank %d is sent other frames:\n%x\n%x", rank, a.frames, b.frames)
		}
	}
	if counted := func(i int) [3]any {
		sent, received, shortened := w.ranks[i].cfg.Counters.Sum()
		return [3]any{sent, received, shortened}
	}; counted(0) != counted(1) {
		return errors.New("they have counted differently")
	}
	if states && w.state(0) != w.state(1) {
		return fmt.Errorf("they are in different states: %s\n%s", w.state(0), w.state(1))
	}
	return nil
}

// state tells what a twin keeps, has counted and has still to do.
func (w *twins) state(i int) string {
	e := w.ranks[i]
	s := fmt.Sprint(e.Stats(), e.Unfinished(), e.Msg.Waiting(), e.Msg.Backlog())
	for _, p := range w.ports[i] {
		bytes, limit := p.Occupancy()
		s += fmt.Sprint(" ", bytes, limit)
	}
	return s
}

// playTwins plays a seed, and returns how many messages were taken straight.
func playTwins(seed uint64) (taken int, err error) {
	w, err := newTwins(seed)
	for i := 0; i < 150 && err == nil; i++ {
		if err = w.step(); err == nil {
			err = w.check(i%8 == 0)
		}
	}
	return w.taken, err
}

// TestStraight: a receive that takes its message straight from the frame leaves the engine as one does that was started
// before the frame came, and brings the same: whatever else happens at the port.
func TestStraight(t *testing.T) {
	taken := 0
	for seed := range uint64(explore.Choose(100, 20000)) {
		n, err := playTwins(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		taken += n
	}
	if t.Logf("%d messages", taken); taken < 250 {
		t.Errorf("%d messages were taken straight: the test shows little", taken)
	}
}
