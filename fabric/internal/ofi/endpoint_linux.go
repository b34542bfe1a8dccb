package ofi

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ebitengine/purego"
)

// An Addr is a peer in an endpoint's address vector.
type Addr uint64

// ContextSize is how many bytes libfabric may use at a context until its operation has ended.
const ContextSize = 64

// Polled is how many completions Poll returns at most, and Posted how many receives Post begins.
const (
	Polled = 64
	Posted = 64
)

// An Endpoint sends and receives messages, and reads and writes the memory of peers.
type Endpoint struct {
	Provider  Provider
	Name      []byte // by which peers reach it
	Inject    int    // the longest message that Send need not keep, in bytes
	Room      int    // how many receives may be posted
	FD        int    // is readable when there are completions, after Quiet; -1 if the provider has none
	Registers bool   // what Write and Read use here must be registered
	Manual    bool   // the provider works only while it is called
	Beside    bool   // a number of 64 bits goes beside a message

	fabric, av, cq *object
	domain         *domain
	ep             *endpoint
	arena          *Arena
	stack          stack // of the calls while it is in use
	blk            *block
	look           *block         // reads the completion queue
	posts          *[Posted]block // begin receives
	entries        *[Polled]entry
	waits          *[1]uintptr // the completion queue, for fi_trywait
	failure        *errorEntry
	word           *[8]uint64
	inserted       *Addr
	access         *rmaMessage
}

// ErrBusy reports that the provider has no room now: the call is to be repeated after Poll.
var ErrBusy = errors.New("libfabric: no room now")

// Open opens an endpoint.
func Open(p Provider) (e *Endpoint, err error) {
	lib, err := load()
	if err != nil {
		return nil, err
	}
	e = &Endpoint{Provider: p, FD: -1, Inject: int(p.info.tx.injectSize), Room: int(p.info.rx.size)}
	const manual = 2 // FI_PROGRESS_MANUAL
	e.Manual = p.info.domain.data == manual
	e.Beside = p.info.domain.cqDataSize >= 8
	if e.arena, err = NewArena(32 << 10); err != nil {
		return nil, err
	}
	if err := e.stack.open(); err != nil {
		e.arena.Close()
		return nil, fmt.Errorf("memory of a stack: %w", err)
	}
	e.blk = place[block](e.arena)
	e.look = place[block](e.arena)
	e.posts = place[[Posted]block](e.arena)
	e.entries = place[[Polled]entry](e.arena)
	e.waits = place[[1]uintptr](e.arena)
	e.failure = place[errorEntry](e.arena)
	e.word = place[[8]uint64](e.arena)
	e.inserted = place[Addr](e.arena)
	e.access = place[rmaMessage](e.arena)
	e.Registers = p.info.domain.mrMode&mrLocal != 0
	if err := e.open(lib); err != nil {
		e.Close()
		return nil, fmt.Errorf("%v: %w", p, err)
	}
	return e, nil
}

// open opens the objects that an endpoint consists of.
func (e *Endpoint) open(lib *library) error {
	p := e.Provider.info
	made := place[uintptr](e.arena)
	get := func(call string, f uintptr, args ...uintptr) error {
		*made = 0
		r, _, _ := purego.SyscallN(f, args...)
		return check(call, r)
	}
	if err := get("fi_fabric", lib.fabric, address(p.fabric), address(made), 0); err != nil {
		return err
	}
	e.fabric = pointer[object](*made)
	err := get("fi_domain", e.fabric.ops[fabricDomain], address(e.fabric), address(p), address(made), 0)
	if err != nil {
		return err
	}
	e.domain = pointer[domain](*made)
	a := place[avAttr](e.arena)
	a.kind = avTable
	if err := get("fi_av_open", e.domain.ops[domainAV], address(e.domain), address(a), address(made), 0); err != nil {
		return err
	}
	e.av = pointer[object](*made)
	if err := e.openQueue(waitFD); err != nil { // some providers have no descriptor to wait for
		if err := e.openQueue(waitNone); err != nil {
			return err
		}
	}
	err = get("fi_endpoint", e.domain.ops[domainEndpoint], address(e.domain), address(p), address(made), 0)
	if err != nil {
		return err
	}
	e.ep = pointer[endpoint](*made)
	return e.enable()
}

// openQueue opens the completion queue, with a descriptor or without.
func (e *Endpoint) openQueue(wait uint32) error {
	a := place[cqAttr](e.arena)
	made := place[uintptr](e.arena)
	*a = cqAttr{size: 1024, format: cqData, wait: wait}
	r, _, _ := purego.SyscallN(e.domain.ops[domainCQ], address(e.domain), address(a), address(made), 0)
	if err := check("fi_cq_open", r); err != nil {
		return err
	}
	cq := pointer[object](*made)
	if wait == waitFD {
		r, _, _ := purego.SyscallN(cq.fid.ops.control, address(cq), getWait, address(e.word))
		if err := check("fi_control(FI_GETWAIT)", r); err != nil {
			shut(&cq.fid)
			return err
		}
		e.FD = int(int32(e.word[0]))
	}
	e.cq = cq
	e.waits[0] = address(cq)
	*e.look = block{f: cq.ops[cqRead], args: [8]uintptr{address(cq), address(e.entries), Polled}}
	return nil
}

// enable binds the endpoint to its queue and its address vector, and starts it.
func (e *Endpoint) enable() error {
	ops := e.ep.fid.ops
	r, _, _ := purego.SyscallN(ops.bind, address(e.ep), address(e.av), 0)
	if err := check("fi_ep_bind", r); err != nil {
		return err
	}
	r, _, _ = purego.SyscallN(ops.bind, address(e.ep), address(e.cq), flagSend|flagRecv)
	if err := check("fi_ep_bind", r); err != nil {
		return err
	}
	r, _, _ = purego.SyscallN(ops.control, address(e.ep), enable, 0)
	if err := check("fi_enable", r); err != nil {
		return err
	}
	const longest = 1 << 10
	name := e.arena.Take(longest)
	e.word[0] = longest
	r, _, _ = purego.SyscallN(e.ep.cm[cmGetname], address(e.ep), address(&name[0]), address(e.word))
	if err := check("fi_getname", r); err != nil {
		return err
	}
	e.Name = bytes.Clone(name[:min(e.word[0], longest)])
	return nil
}

// Close gives everything back, also registrations. Nothing that was given to the endpoint is used afterwards.
func (e *Endpoint) Close(registered ...*Registration) {
	if e.ep != nil {
		shut(&e.ep.fid)
	}
	for _, r := range registered {
		if r != nil {
			r.Close()
		}
	}
	for _, o := range []*object{e.cq, e.av} {
		if o != nil {
			shut(&o.fid)
		}
	}
	if e.domain != nil {
		shut(&e.domain.fid)
	}
	if e.fabric != nil {
		shut(&e.fabric.fid)
	}
	e.stack.close()
	e.arena.Close()
}

func shut(f *fid) { purego.SyscallN(f.ops.close, address(f)) }

// Insert makes a peer known by the Name of its endpoint.
func (e *Endpoint) Insert(name []byte) (Addr, error) {
	const longest = 1 << 10
	if len(name) == 0 || len(name) > longest {
		return 0, fmt.Errorf("libfabric: an address of %d bytes", len(name))
	}
	copied, err := NewArena(longest + 64) // a provider may read as much as its own addresses have
	if err != nil {
		return 0, err
	}
	defer copied.Close()
	at := copied.Take(longest)
	copy(at, name)
	n, _, _ := purego.SyscallN(e.av.ops[avInsert], address(e.av), address(&at[0]), 1, address(e.inserted), 0, 0)
	if int32(n) != 1 {
		return 0, fmt.Errorf("fi_av_insert: %w", cmpError(check("fi_av_insert", n)))
	}
	return *e.inserted, nil
}

// cmpError returns err, or that the provider gives no reason.
func cmpError(err error) error {
	if err == nil {
		return errors.New("the provider refuses the address")
	}
	return err
}

// Send sends a message, and beside it a number, unless the provider cannot do that (Beside). Context is memory of
// ContextSize bytes, and b memory of a Registration or of no more than Inject bytes; both belong to libfabric until
// Poll has returned the context. It returns ErrBusy, or an *Error that tells what the provider says of the peer.
func (e *Endpoint) Send(to Addr, b []byte, beside uint64, r *Registration, context *byte) error {
	k := e.blk
	k.args = [8]uintptr{address(e.ep), address(&b[0]), uintptr(len(b)), r.desc()}
	last := k.args[4:]
	k.f = e.ep.msg[msgSend]
	if e.Beside {
		k.f = e.ep.msg[msgSendData]
		last[0] = uintptr(beside)
		last = last[1:]
	}
	last[0] = uintptr(to)
	last[1] = address(context)
	return e.said("fi_send", e.stack.call(k))
}

// SendNow is Send of a message of at most Inject bytes, which is the caller's again at once. Poll returns nothing of
// it.
func (e *Endpoint) SendNow(to Addr, b []byte, beside uint64) error {
	k := e.blk
	k.args[0] = address(e.ep)
	k.args[1] = address(&b[0])
	k.args[2] = uintptr(len(b))
	k.args[3] = uintptr(to)
	k.f = e.ep.msg[msgInject]
	if e.Beside {
		k.f = e.ep.msg[msgInjectData]
		k.args[3] = uintptr(beside)
		k.args[4] = uintptr(to)
	}
	return e.said("fi_inject", e.stack.call(k))
}

// Receive makes memory for one message the i-th of the next Post. It belongs to the endpoint from then until Poll has
// returned the context.
func (e *Endpoint) Receive(i int, b []byte, r *Registration, context *byte) {
	k := &e.posts[i]
	k.f = e.ep.msg[msgRecv]
	k.args = [8]uintptr{address(e.ep), address(&b[0]), uintptr(len(b)), r.desc(), ^uintptr(0), address(context)}
}

// Post begins the first n receives, in one crossing. It returns how many of them libfabric had room for.
func (e *Endpoint) Post(n int) int {
	for i := range n {
		e.posts[i].next = nil
		e.posts[i].result = 1
		if i > 0 {
			e.posts[i-1].next = &e.posts[i]
		}
	}
	e.stack.call(&e.posts[0])
	for i := range n {
		if e.posts[i].result != 0 {
			return i
		}
	}
	return n
}

// said makes an error of what a call has returned.
func (e *Endpoint) said(call string, result int64) error {
	switch result {
	case 0:
		return nil
	case eagain:
		return ErrBusy
	}
	return failed(call, int(-result))
}

// A Done is an operation that has ended: its context, and for a receive the length of the message and the number beside
// it. Err is nil, or what the provider says; then Context is 0 if the operation was a SendNow.
type Done struct {
	Context uintptr
	Size    int
	Beside  uint64
	Err     error
}

// Poll returns operations that have ended, up to Polled, and makes the provider go on. It looks so many times in one
// crossing, until there is something.
func (e *Endpoint) Poll(dst *[Polled]Done, looks int) int {
	k := e.look
	k.looks = looks
	n := e.stack.call(k)
	switch {
	case n > 0:
		for i := range dst[:n] {
			f := &e.entries[i]
			dst[i] = Done{Context: f.context, Size: int(f.len), Beside: f.data}
		}
		return int(n)
	case n == eavail:
		dst[0] = e.failed()
		return 1
	}
	return 0
}

// failed reads the operation that has failed.
func (e *Endpoint) failed() Done {
	f := e.failure
	*f = errorEntry{}
	if n, _, _ := purego.SyscallN(e.cq.ops[cqReaderr], address(e.cq), address(f), 0); int32(n) < 0 {
		return Done{}
	}
	err := failed("completion", int(f.err))
	said, _, _ := purego.SyscallN(e.cq.ops[cqStrerror], address(e.cq), uintptr(f.provErr), f.errData, 0, 0)
	var x *Error
	if more := text(pointer[byte](said)); more != "" && errors.As(err, &x) && more != x.Text {
		x.Text += ", " + more
	}
	return Done{Context: f.context, Err: err}
}

// Quiet reports whether nothing has ended, so that FD becomes readable when something does.
func (e *Endpoint) Quiet() bool {
	k := e.blk
	k.f = e.fabric.ops[fabricTrywait]
	k.args[0] = address(e.fabric)
	k.args[1] = address(e.waits)
	k.args[2] = 1
	return int32(e.stack.call(k)) == 0
}

// Size returns how many bytes of memory the endpoint itself has mapped.
func (e *Endpoint) Size() int { return e.arena.Size() }
