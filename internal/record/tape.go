package record

import (
	"crypto/rand"
	"encoding/json"
	"io"

	"weft/internal/engine"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
)

// A tape writes the inputs of one engine down. The goroutine that owns the engine owns its tape.
type tape struct {
	out    *json.Encoder
	err    error // the first failure to write; then nothing more is written
	inputs int   // since the state was noted

	seal   *link.Resealer // for the job's secret is not for the tape
	engine *engine.Engine
	ports  map[*msg.Port]int
	ops    map[any]int
	blocks map[*msg.Block]int
	objs   map[*coord.Object]int
	given  int // operations and blocks numbered so far
}

// checkEvery is after how many inputs the state of the engine is noted.
const checkEvery = 1000

// newTape begins a recording of an engine of a configuration, whose random numbers are recorded from now on.
func newTape(w io.Writer, cfg *engine.Config) *tape {
	secret := make([]byte, 32) // of the recording
	rand.Read(secret)
	self := func(secret []byte) *link.Self {
		return link.NewSelf(cfg.Job, uint32(cfg.Rank), cfg.Incarnation, secret)
	}
	here := self(cfg.Secret)
	here.Agrees(cfg.Agreement)
	t := &tape{out: json.NewEncoder(w), seal: link.NewResealer(here, self(secret)),
		ports: map[*msg.Port]int{}, ops: map[any]int{}, blocks: map[*msg.Block]int{}, objs: map[*coord.Object]int{}}
	t.note(Input{Do: "engine", Engine: &Config{
		cfg.Rank, cfg.Size, cfg.MaxQueue, cfg.Job, secret, cfg.Incarnation, cfg.Link,
	}})
	if number := cfg.Rand; number != nil {
		cfg.Rand = func() uint64 {
			v := number()
			t.note(Input{Do: "random", Random: v})
			return v
		}
	}
	return t
}

// note writes an input, and numbers for what it is about.
func (t *tape) note(in Input) {
	if t.err != nil {
		return
	}
	t.inputs++
	// These are noted before they are applied.
	if t.inputs >= checkEvery && (in.Do == "recv" || in.Do == "straight" || in.Do == "advance") {
		t.inputs = 0
		t.noteState()
	}
	t.number(&in)
	if t.err == nil {
		t.err = t.out.Encode(in)
	}
}

// noteState notes the state of the engine, so that a replay can compare.
func (t *tape) noteState() {
	if t.err == nil {
		t.err = t.out.Encode(Input{Do: "state", Hash: t.engine.Fingerprint()})
	}
}

// number fills in the numbers of what an input is about, and what a replay needs to make an operation.
func (t *tape) number(in *Input) {
	r := &in.Ref
	switch in.Do {
	case "start", "access", "sync":
		t.given++
		t.ops[r.op()] = t.given
		t.describe(in)
	case "next", "reserve", "lend", "hold":
		t.given++
		t.blocks[r.Block] = t.given
	case Fetch, Fetched:
		in.N = len(r.Msg.Buf) // it may be a new one
	}
	if in.Cause != nil {
		in.Name = in.Cause.Error()
	}
	if r.Region != nil {
		in.Region = r.Region.ID
	}
	in.Port = t.ports[r.Port]
	in.Op = t.ops[r.op()]
	in.Block = t.blocks[r.Block]
	switch in.Do {
	case "release", "commit", Discard:
		delete(t.blocks, r.Block) // the number names nothing any more
	}
}

// describe writes down an operation that is started. Its bytes are not recorded: what the engine
// does follows from their number alone.
func (t *tape) describe(in *Input) {
	r := &in.Ref
	switch {
	case r.Msg != nil:
		op := r.Msg
		in.Msg = &Message{op.Kind, op.Peer, len(op.Buf), op.Buf == nil, op.Aside, op.Mem, op.Addr}
	case r.RMA != nil:
		op := r.RMA
		in.RMA = &Access{
			uint8(op.Kind), uint8(op.Code), op.Peer, len(op.Buf), op.Name, op.Region, op.Key, op.Off, op.A, op.B, op.Entry,
			op.Mode, op.Lock, op.Epoch,
		}
	case r.Sync != nil:
		in.Sync = &Sync{r.Sync.Kind, t.objs[r.Sync.Object], r.Sync.N}
	}
}

// sealed returns a packet as the recording has it. A packet of a lossy transport is sealed again under the recording's
// own secret, so that the job's secret is not in the file, and the replay accepts the packet all the same.
func (t *tape) sealed(from int, pkt []byte) []byte {
	if from < 0 { // it comes by a network
		return t.seal.Reseal(pkt)
	}
	return pkt
}

// opened gives a port its number.
func (t *tape) opened(p *msg.Port) { t.ports[p] = len(t.ports) + 1 }

// made gives an object its number, if it is a new one.
func (t *tape) made(o *coord.Object) {
	if t.objs[o] == 0 {
		t.objs[o] = len(t.objs) + 1
	}
}

// A lane records what a lane of the transport answered: a replay has no transport, and must answer the same.
type lane struct {
	link.Lane
	tape *tape
}

func (l *lane) Push(header, payload []byte, urgent bool) bool {
	ok := l.Lane.Push(header, payload, urgent)
	l.tape.note(Input{Do: "lane", OK: ok})
	return ok
}
