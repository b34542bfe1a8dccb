package endpoint

import (
	"encoding/binary"
	"slices"

	"weft/internal/engine/msg"
)

// A Verb is what an Access does with memory of another endpoint.
type Verb uint8

// The verbs.
const (
	Write  Verb = iota // fi_write
	Read               // fi_read
	Atomic             // fi_atomic, fi_fetch_atomic, fi_compare_atomic
	answer             // to any of them
)

// An Access is one of memory that another endpoint has registered. That endpoint carries it out when it makes progress,
// and answers. The endpoint here borrows Out, or what is longer than EagerAccess of it, and In until it tells of the
// end.
type Access struct {
	Verb      Verb
	Op, Type  uint8 // of Atomic: enum fi_op and enum fi_datatype
	Completes bool  // its end is told
	HasData   bool  // the other endpoint tells its program of a write, with Data
	To        uint64
	Key, At   uint64 // of the memory, and where in it
	Data      uint64
	Out       []byte // what is written, or the operands
	With      []byte // what is compared
	In        []byte // what is read, or was there before
	Context   uintptr
}

// A request follows the header of a message about memory, little endian:
//
//	0  1  verb
//	1  1  operation
//	2  1  type of words
//	4  4  error of an answer
//	8  8  key
//	16 8  number of the access
//	24 8  bytes that the answer is to bring
//
// The header has the offset in place of a tag. Bytes follow as with other messages.
type request struct {
	verb    Verb
	op, typ uint8
	err     Errno
	key     uint64
	number  uint64
	back    uint64
}

const requestSize = 32

// EagerAccess is the longest piece in bytes that goes with its request or answer.
const EagerAccess = eager - requestSize

func (r *request) put(b []byte) {
	binary.LittleEndian.PutUint64(b, uint64(r.verb)|uint64(r.op)<<8|uint64(r.typ)<<16|uint64(uint32(r.err))<<32)
	binary.LittleEndian.PutUint64(b[8:], r.key)
	binary.LittleEndian.PutUint64(b[16:], r.number)
	binary.LittleEndian.PutUint64(b[24:], r.back)
}

func (r *request) parse(b []byte) []byte {
	r.verb = Verb(b[0])
	r.op = b[1]
	r.typ = b[2]
	r.err = Errno(binary.LittleEndian.Uint32(b[4:]))
	r.key = binary.LittleEndian.Uint64(b[8:])
	r.number = binary.LittleEndian.Uint64(b[16:])
	r.back = binary.LittleEndian.Uint64(b[24:])
	return b[requestSize:]
}

// An access is one that has begun here. It ends when it is answered, and its bytes have left or come.
type access struct {
	peer      *peer // nil: free
	in        []byte
	answered  bool
	waits     int
	completes bool
	counter   *Counter
	entry     Entry
}

// maxAccesses is how many may be under way: others keep answers for them.
const maxAccesses = 1024

// remote is what an endpoint has to do with memory of others, and they with its own.
type remote struct {
	accesses []access
	free     []int
	owed     []owed
}

// An owed is an answer for which there has been no room yet.
type owed struct {
	to      *peer
	request request
	bytes   []byte
}

// Access begins an access.
func (e *Endpoint) Access(a *Access) Errno {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.at(a.To)
	switch {
	case p == nil || e.closed:
		return ErrInvalid
	case max(len(a.Out), len(a.In)) > maxMessage:
		return ErrTooLong
	case e.eng.Gone(p.id) != nil:
		return ErrUnreachable
	}
	i := e.remote.slot()
	if i < 0 {
		e.progress(protocol)
		return ErrAgain
	}
	r := request{verb: a.Verb, op: a.Op, typ: a.Type, key: a.Key, number: uint64(i), back: uint64(len(a.In))}
	h := header{kind: aside, hasData: a.HasData, tag: a.At, data: a.Data}
	b := e.reserve(p.id, h.about(len(a.Out)+len(a.With)))
	if b == nil {
		return ErrAgain
	}
	e.remote.free = e.remote.free[:len(e.remote.free)-1]
	x := &e.remote.accesses[i]
	*x = access{peer: p, in: a.In, waits: 1, completes: a.Completes, counter: e.counters.Writes}
	x.entry = Entry{Context: a.Context, Flags: flagRemote, Len: uint64(len(a.In)), Source: NotAvailable}
	if a.Verb == Atomic {
		x.entry.Flags = flagAtomic
	}
	if a.Verb == Read || len(a.In) > 0 {
		x.counter = e.counters.Reads
		x.entry.Flags |= flagRead
	} else {
		x.entry.Flags |= flagWrite
	}
	if h.form == apart {
		x.waits++
	}
	e.tell(p, b, &h, &r, a.Out, a.With, func(err Errno) { e.step(i, err) })
	e.flush(e.now())
	return ErrNone
}

// slot returns the number of an access to come, or -1.
func (m *remote) slot() int {
	if n := len(m.accesses); len(m.free) == 0 && n < maxAccesses {
		m.accesses = append(m.accesses, access{})
		m.free = append(m.free, n)
	}
	if len(m.free) == 0 {
		return -1
	}
	return m.free[len(m.free)-1]
}

// about makes h the header of a message about memory with n bytes, and returns the room that it takes.
func (h *header) about(n int) int {
	h.length = uint64(n)
	if n > EagerAccess {
		h.form = apart
		n = 0
	}
	return headSize + requestSize + n
}

// tell sends a message about memory. What does not go with it follows, and then is called at its end.
func (e *Endpoint) tell(p *peer, b *msg.Block, h *header, r *request, bytes, more []byte, then func(Errno)) {
	h.put(b.Data())
	r.put(b.Data()[headSize:])
	if h.form == inline {
		at := b.Data()[headSize+requestSize:]
		copy(at[copy(at, bytes):], more)
	}
	e.short.Commit(p.id, b)
	if h.form == apart {
		e.track(e.long, outgoing{op: msg.Op{Kind: msg.Send, Peer: p.id, Buf: bytes}, then: then})
	}
}

// step is called when one of the things has happened for which an access waits.
func (e *Endpoint) step(i int, err Errno) {
	x := &e.remote.accesses[i]
	if x.entry.Err == ErrNone {
		x.entry.Err = err
	}
	if x.waits--; x.waits > 0 {
		return
	}
	x.counter.add(x.entry.Err)
	if x.completes || x.entry.Err != ErrNone {
		e.sent.put(&x.entry)
	}
	*x = access{}
	e.remote.free = append(e.remote.free, i)
}

// serve handles a message about memory. Its bytes are borrowed.
func (e *Endpoint) serve(p *peer, h *header, body []byte) {
	var r request
	bytes := r.parse(body)
	if r.verb == answer {
		e.answered(p, h, &r, bytes)
		return
	}
	n := max(h.length, r.back)
	access := uint64(RemoteWrite)
	if r.verb == Read || r.verb == Atomic && r.op == opRead {
		access = RemoteRead
	}
	with := bytes[len(bytes):]
	if r.verb == Atomic && r.op >= opSwapEqual {
		n = h.length / 2
		bytes, with = bytes[:len(bytes)/2], bytes[len(bytes)/2:]
	}
	room, writes, err := e.memory.find(r.key, h.tag, n, access)
	switch {
	case r.verb == Write:
		head := *h
		e.land(p, h, bytes, room, func(aborted Errno) {
			e.written(p, &head, &r, writes, max(err, aborted))
		})
		return
	case err == ErrNone && r.verb == Atomic:
		room, err = e.memory.update(&r, room, bytes, with)
		e.counters.RemoteWrites.add(err)
		writes.add(err)
	case err == ErrNone && r.verb == Read:
		e.counters.RemoteReads.add(err)
	case err == ErrNone:
		err = ErrInvalid
	}
	if err != ErrNone {
		room = nil
	}
	e.owe(p, r.number, err, room)
}

// update carries out an atomic operation, and returns what was in memory before, if the answer is to bring it.
func (m *Memory) update(r *request, room, by, with []byte) (was []byte, err Errno) {
	n := len(room)
	if int(r.typ) >= len(typeSizes) || n > maxAtomic || n%typeSizes[r.typ] != 0 || r.back > 0 && r.back != uint64(n) ||
		r.op != opRead && len(by) != n || r.op >= opSwapEqual && len(with) != n {
		return nil, ErrInvalid
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.back > 0 {
		was = slices.Clone(room)
	}
	if !update(r.op, r.typ, room, by, with) {
		return nil, ErrInvalid
	}
	return was, ErrNone
}

// land brings the bytes of a message about memory into room, and calls then.
func (e *Endpoint) land(p *peer, h *header, bytes, room []byte, then func(Errno)) {
	if h.form == inline {
		copy(room, bytes)
		then(ErrNone)
		return
	}
	in := e.expect(p)
	in.gift = gift{room: room, then: then}
	in.wanted = true
	e.goOn(in)
}

// written takes note of a write into this endpoint's memory.
func (e *Endpoint) written(p *peer, h *header, r *request, writes *Counter, err Errno) {
	e.counters.RemoteWrites.add(err)
	writes.add(err)
	if h.hasData && err == ErrNone {
		e.received.put(&Entry{
			Flags: flagRemote | flagRemoteWrite | flagData, Len: h.length, Data: h.data, Source: p.addr,
		})
	}
	e.owe(p, r.number, err, nil)
}

// owe answers, now or later.
func (e *Endpoint) owe(p *peer, number uint64, err Errno, bytes []byte) {
	o := owed{p, request{verb: answer, number: number, err: err}, bytes}
	if !e.pay(&o) {
		e.remote.owed = append(e.remote.owed, o)
	}
}

// pay sends an answer if there is room for it.
func (e *Endpoint) pay(o *owed) bool {
	if e.eng.Gone(o.to.id) != nil {
		return true
	}
	h := header{kind: aside}
	b := e.short.Reserve(o.to.id, h.about(len(o.bytes)))
	if b == nil {
		return false
	}
	e.tell(o.to, b, &h, &o.request, o.bytes, nil, func(Errno) {})
	return true
}

// payOff sends the answers for which there is room by now.
func (e *Endpoint) payOff() {
	if len(e.remote.owed) > 0 {
		e.remote.owed = slices.DeleteFunc(e.remote.owed, func(o owed) bool { return e.pay(&o) })
	}
}

// answered takes the answer to an access.
func (e *Endpoint) answered(p *peer, h *header, r *request, bytes []byte) {
	if r.number >= uint64(len(e.remote.accesses)) {
		return
	}
	i := int(r.number)
	x := &e.remote.accesses[i]
	if x.peer != p || x.answered {
		return
	}
	x.answered = true
	room := x.in
	err := r.err
	if err == ErrNone && h.length != uint64(len(room)) {
		err = ErrIO
	}
	if err != ErrNone {
		room = nil
	}
	e.land(p, h, bytes, room, func(aborted Errno) { e.step(i, max(err, aborted)) })
}

// abort ends the accesses that wait for the answer of a peer that has gone.
func (m *remote) abort(e *Endpoint, p *peer) {
	for i := range m.accesses {
		if x := &m.accesses[i]; x.peer == p && !x.answered {
			x.answered = true
			e.step(i, ErrAborted)
		}
	}
}
