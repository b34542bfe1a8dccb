package record

import (
	"crypto/rand"
	"encoding/json"
	"io"

	"weft/internal/engine"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/monotime"
)

// A Tape records the events of one engine. A nil Tape records nothing. The goroutine that
// owns the engine owns its tape.
type Tape struct {
	out    *json.Encoder
	err    error // the first failure to write; then nothing more is written
	events int   // since the state was noted

	seal   *link.Resealer // for the job's secret is not for the tape
	eng    *engine.Engine
	ports  map[*msg.Port]int
	ops    map[any]int
	blocks map[*msg.Block]int
	objs   map[*coord.Object]int
	given  int // operations and blocks numbered so far
}

// checkEvery is after how many events the state of the engine is noted.
const checkEvery = 1000

// New returns the engine of a configuration, and a tape that records it. Every
// event is written at once, so that those before a crash are there.
func New(w io.Writer, cfg engine.Config) (*engine.Engine, *Tape) {
	secret := make([]byte, 32) // of the recording
	rand.Read(secret)
	self := func(secret []byte) *link.Self {
		return link.NewSelf(cfg.Job, uint32(cfg.Rank), cfg.Incarnation, secret)
	}
	t := &Tape{out: json.NewEncoder(w), seal: link.NewResealer(self(cfg.Secret), self(secret)),
		ports: map[*msg.Port]int{}, ops: map[any]int{}, blocks: map[*msg.Block]int{}, objs: map[*coord.Object]int{}}
	t.Note(Event{Do: "engine", Engine: &Config{
		cfg.Rank, cfg.Size, cfg.MaxQueue, cfg.Job, secret, cfg.Incarnation, cfg.Link,
	}})
	if random := cfg.Rand; random != nil {
		cfg.Rand = func() uint64 {
			v := random()
			t.Note(Event{Do: "random", Random: v})
			return v
		}
	}
	t.eng = engine.New(cfg)
	return t.eng, t
}

// Err returns why the recording is not complete, or nil.
func (t *Tape) Err() error { return t.err }

// Note records an event: before the call that it stands for, so that a crash
// does not lose it, or after it where the event tells what came of the call and
// the call has no other effect that a replay would need first.
func (t *Tape) Note(e Event) {
	if t == nil || t.err != nil {
		return
	}
	t.events++
	if t.events >= checkEvery && (e.Do == "recv" || e.Do == "advance") { // noted before the call
		t.events = 0
		t.End()
	}
	if t.err == nil {
		t.err = t.out.Encode(e)
	}
}

// End notes the state of the engine, so that a replay can compare.
func (t *Tape) End() {
	if t != nil && t.err == nil {
		t.err = t.out.Encode(Event{Do: "state", Hash: t.eng.Fingerprint()})
	}
}

// number returns the next number for an operation, or a block, that a replay must find again. 0 stands for none.
func (t *Tape) number() int {
	t.given++
	return t.given
}

// The methods below are short, so that they are inlined where nothing is
// recorded.

// Step records a call that takes no more than a time and a rank.
func (t *Tape) Step(do string, now monotime.Time, rank int) {
	if t != nil {
		t.Note(Event{Do: do, Now: now, Rank: rank})
	}
}

// Recv records a packet that goes into the engine.
func (t *Tape) Recv(now monotime.Time, from int, pkt []byte) {
	if t != nil {
		t.recv(now, from, pkt)
	}
}

// recv records a packet that arrives. A packet of a lossy transport is sealed again under the recording's own
// secret, so that the job's secret is not in the file, and the replay accepts the packet all the same.
func (t *Tape) recv(now monotime.Time, from int, pkt []byte) {
	if from < 0 { // it comes by a network
		pkt = t.seal.Reseal(pkt)
	}
	t.Note(Event{Do: "recv", Now: now, Rank: from, Bytes: pkt})
}

// Open records the opening of a channel, Opened that it has succeeded.
func (t *Tape) Open(channel uint16, cfg msg.Config) {
	if t != nil {
		t.Note(Event{Do: "open", N: int(channel), Open: &cfg})
	}
}

// Opened gives a port its number.
func (t *Tape) Opened(p *msg.Port) {
	if t != nil {
		t.ports[p] = len(t.ports) + 1
	}
}

// Port records a call of a port.
func (t *Tape) Port(do string, p *msg.Port, rank, n int) {
	if t != nil {
		t.Note(Event{Do: do, Port: t.ports[p], Rank: rank, N: n})
	}
}

// Revoke records that a channel has been revoked for other ranks, because one has gone or for another reason.
func (t *Tape) Revoke(p *msg.Port, to []int, gone int, reason string) {
	if t != nil {
		t.Note(Event{Do: "revoke", Port: t.ports[p], Ranks: to, Rank: gone, Name: reason})
	}
}

// Start records the start of a message operation.
func (t *Tape) Start(p *msg.Port, op *msg.Op) {
	if t != nil {
		t.start(p, op)
	}
}

// start records the beginning of a message operation. Its bytes are not recorded: what the engine
// does follows from their number alone.
func (t *Tape) start(p *msg.Port, op *msg.Op) {
	t.ops[op] = t.number()
	t.Note(Event{Do: "start", Port: t.ports[p], Op: t.ops[op], OK: op.Alone,
		Msg: &Message{op.Kind, op.Peer, len(op.Buf), op.Buf == nil, op.Mem, op.Addr}})
}

// Op records a call that is about an operation, a *msg.Op, *rma.Op or *coord.Op.
func (t *Tape) Op(do string, op any) {
	if t != nil {
		t.op(do, op, 0)
	}
}

// Fetch records a call for an offered message, whose buffer may be a new one.
func (t *Tape) Fetch(do string, op *msg.Op) {
	if t != nil {
		t.op(do, op, len(op.Buf))
	}
}

func (t *Tape) op(do string, op any, n int) { t.Note(Event{Do: do, Op: t.ops[op], N: n}) }

// Access records the start of an operation on memory.
func (t *Tape) Access(op *rma.Op) {
	if t != nil {
		t.access(op)
	}
}

// access records the beginning of an access to memory, by its length and place, without the bytes.
func (t *Tape) access(op *rma.Op) {
	t.ops[op] = t.number()
	t.Note(Event{Do: "access", Op: t.ops[op], RMA: &Access{
		uint8(op.Kind), uint8(op.Code), op.Peer, len(op.Buf), op.Name, op.Region, op.Key, op.Off, op.A, op.B, op.Entry,
		op.Mode, op.Lock, op.Epoch,
	}})
}

// Object records the opening of what coordinates, Made that it has succeeded.
func (t *Tape) Object(now monotime.Time, cfg *coord.Config) {
	if t != nil {
		t.Note(Event{Do: "object", Now: now, Object: cfg})
	}
}

// Made gives an object its number, if it is a new one.
func (t *Tape) Made(o *coord.Object) {
	if t != nil && t.objs[o] == 0 {
		t.objs[o] = len(t.objs) + 1
	}
}

// Sync records the start of an operation of coordination.
func (t *Tape) Sync(now monotime.Time, op *coord.Op) {
	t.ops[op] = t.number()
	t.Note(Event{Do: "sync", Now: now, Op: t.ops[op], Sync: &Sync{op.Kind, t.objs[op.Object], op.N}})
}

// Lend records that a block was handed out, by an operation if op is not nil.
func (t *Tape) Lend(do string, p *msg.Port, op *msg.Op, b *msg.Block, rank, n int) {
	if t != nil && b != nil {
		t.lend(do, p, op, b, rank, n)
	}
}

// lend records that a port has given a block to its caller, and gives the block a number.
func (t *Tape) lend(do string, p *msg.Port, op *msg.Op, b *msg.Block, rank, n int) {
	t.blocks[b] = t.number()
	e := Event{Do: do, Port: t.ports[p], Block: t.blocks[b], Rank: rank, N: n}
	if op != nil {
		e.Op = t.ops[op]
	}
	t.Note(e)
}

// Restore records that a saved state takes the place of a port's.
func (t *Tape) Restore(p *msg.Port, state []byte) {
	if t != nil {
		t.Note(Event{Do: "restore", Port: t.ports[p], Bytes: state})
	}
}

// Shorten records that a draft has been made shorter.
func (t *Tape) Shorten(p *msg.Port, b *msg.Block, n int) {
	if t != nil {
		t.Note(Event{Do: "shorten", Port: t.ports[p], Block: t.blocks[b], N: n})
	}
}

// Block records a call that gives a block back.
func (t *Tape) Block(do string, p *msg.Port, b *msg.Block, rank int) {
	if t != nil {
		t.back(do, p, b, rank)
	}
}

// back records that a block has come back. Its number then names nothing any more.
func (t *Tape) back(do string, p *msg.Port, b *msg.Block, rank int) {
	t.Note(Event{Do: do, Port: t.ports[p], Block: t.blocks[b], Rank: rank})
	delete(t.blocks, b)
}

// Connect notes a way to a peer.
func (t *Tape) Connect(now monotime.Time, rank int, path engine.Path) {
	e := Event{Do: "connect", Now: now, Rank: rank, N: path.MTU, OK: path.Lossy, Guard: path.Guard,
		Incarnation: path.Incarnation}
	if path.Lane != nil {
		e.M |= laned
	}
	if path.Beats {
		e.M |= beats
	}
	e.M |= path.Devices << devices
	t.Note(e)
}

// What M of a "connect" says.
const (
	laned   = 1
	beats   = 4
	devices = 3 // bits before their number
)

// Lane returns a lane that records what becomes of the packets pushed to it.
func (t *Tape) Lane(l link.Lane) link.Lane {
	if t == nil || l == nil {
		return l
	}
	return &lane{l, t}
}

// A lane records what a lane of the transport answered: a replay has no transport, and must answer the same.
type lane struct {
	link.Lane
	tape *Tape
}

func (l *lane) Push(header, payload []byte, urgent bool) bool {
	ok := l.Lane.Push(header, payload, urgent)
	l.tape.Note(Event{Do: "lane", OK: ok})
	return ok
}
