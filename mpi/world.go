package mpi

import (
	"context"
	"sync"
	"sync/atomic"

	"weft"
	"weft/extend"
	"weft/internal/match"
)

// A world is what this package keeps for a rank. All communicators share three channels, which no program can open.
// Short messages, and the headers of long ones, arrive on one, and are matched here. The bytes of a long message wait
// at their sender, on another channel, until a receive has been found for them. The third channel is for what ranks
// tell each other about communicators; a goroutine serves it.
//
// A world has no goroutine for messages: one of the goroutines that wait takes them, and hands the others theirs.
type world struct {
	p     *weft.Proc
	short ports
	long  ports
	offer *extend.Port // long
	look  *extend.Port // short
	err   error        // why the channels could not be opened
	all   *Comm        // World

	oneHost bool         // all ranks of the job are on one
	rules   rules        // of the tuning table
	loose   atomic.Int32 // receives for which no goroutine waits

	opened *extend.Signal       // set once the channels are open, or cannot be
	usable atomic.Pointer[Comm] // all, from then on

	control *extend.Port
	notices *weft.Port       // control
	behind  []*extend.Signal // of catchUp; by mu

	ordering *extend.Signal // not set while the header and the bytes of a long message are handed over

	mu        sync.Mutex // never held while a goroutine waits, but for one short look at memory
	comms     map[uint64]*Comm
	last      *Comm   // to which the last message belonged
	list      []*Comm // in the order in which they were made
	made      uint32  // numbers for communicators that this rank has given out
	early     map[uint64]*early
	gone      []*weft.PeerError       // the ranks that have gone, in the order in which this rank learnt of it
	parted    map[int]*weft.PeerError // silent on one of the channels of notices and short messages, or both
	lost      map[int]*weft.PeerError
	driving   bool       // a goroutine takes messages from the channel, without the lock
	driver    *receive   // for which it does so, if it waits
	waiting   []*receive // the receives for which goroutines are in wait
	probes    []*receive // of these, the probes
	watching  []*receive // likewise, that end when any other one does
	sought    []*receive // from members that have not come to the board: they are not posted
	sends     []*receive // stand for sends that wait: their sources are the receivers
	inquiring bool       // inquire runs
	spare     []*receive // not in use
	todo      []func()   // what is to be done without the lock
	bodies    pool       // copies of unexpected messages
	scratch   []byte     // of the goroutine that drives: the message
	came      arrival    // likewise: the message that it takes
	half      bool       // came lacks the offer of its bytes
	consenses map[uint64]*consensus
	agreeing  []*consensus // in the order in which they were made
	mourned   []int        // the ranks that the agreements know to have gone
}

// ports are two handles of one port. What is sent by the second one is part of an operation of all ranks; a trace
// counts it apart.
type ports struct{ one, all handle }

// A handle is a port with the calls for libraries.
type handle struct {
	*weft.Port
	x *extend.Port
}

func newPorts(p *weft.Port) ports {
	all := extend.Collective(p)
	return ports{handle{p, extend.Of(p)}, handle{all, extend.Of(all)}}
}

// of returns the handle for a message of a class in a communicator.
func (p *ports) of(c *Comm, k class) handle {
	if k == collective && c == c.w.all {
		return p.all
	}
	return p.one
}

// early is what has come for a communicator that this rank has not made yet.
type early struct {
	messages []arrival
	notices  []notice
}

// An arrival is a message that has arrived, with its sender's rank in the job.
type arrival struct {
	from int
	message
}

// A message is an unexpected message: its elements, or the offer of them.
type message struct {
	head  header
	body  []byte
	offer extend.Offer
}

// The channels of this package.
const (
	shortChannel = 1<<16 - 4 + iota
	longChannel
	controlChannel
)

type worldKey struct{}

// World returns the communicator of all ranks of the job, MPI_COMM_WORLD. It is the same at each call, needs no
// communication, and is there until the Proc is closed. Any goroutine may call it.
func World(p *weft.Proc) *Comm {
	w := extend.Library(p, worldKey{}, func() any { return &world{} }).(*world)
	if c := w.usable.Load(); c != nil {
		return c
	}
	w.mu.Lock()
	first := w.opened == nil
	if first {
		w.opened = extend.NewSignal(p)
	}
	w.mu.Unlock()
	if !first {
		_ = w.opened.Wait(context.Background()) // another goroutine opens the channels, whatever comes of that
		w.opened.Set()
		return w.all
	}
	w.open(p)
	w.all.ended.Store(w.err != nil)
	w.usable.Store(w.all)
	w.opened.Set()
	if w.err == nil {
		extend.ShowReceives(p, shortChannel, w.receives)
		p.Go(w.serve)
		p.Go(w.watch)
		p.Go(w.watchShort)
	}
	return w.all
}

// open opens the channels, and makes the communicator of all ranks.
func (w *world) open(p *weft.Proc) {
	w.p = p
	w.comms = map[uint64]*Comm{}
	w.early = map[uint64]*early{}
	w.parted = map[int]*weft.PeerError{}
	w.lost = map[int]*weft.PeerError{}
	w.consenses = map[uint64]*consensus{}
	w.all = w.register(0, Group{n: p.Size()})
	w.oneHost = extend.OneHost(p)
	if w.rules, w.err = readRules(w.oneHost); w.err != nil {
		return
	}
	var short, long, control *weft.Port
	if short, w.err = extend.Open(p, shortChannel, nil); w.err != nil {
		return
	}
	if long, w.err = extend.Open(p, longChannel, &weft.PortConfig{MaxMessage: 1 << 40}); w.err != nil {
		return
	}
	if control, w.err = extend.Open(p, controlChannel, &weft.PortConfig{Service: true}); w.err != nil {
		return
	}
	w.short = newPorts(short)
	w.long = newPorts(long)
	w.offer = w.long.one.x
	w.look = w.short.one.x
	w.notices = control
	w.control = extend.Of(control)
	w.scratch = make([]byte, 1<<16)
	w.ordering = extend.NewSignal(p)
	w.ordering.Set()
}

// register makes a communicator known. The lock is held.
func (w *world) register(id uint64, g Group) *Comm {
	c := &Comm{w: w, id: id, group: g, me: g.find(w.p.Rank()), q: match.NewQueues[message, *receive](g.n),
		number: len(w.list)}
	w.comms[id] = c
	w.list = append(w.list, c)
	for _, gone := range w.gone {
		if w.lost[gone.Rank] == gone && g.find(gone.Rank) >= 0 && (!gone.Clean || c.alone()) {
			c.news = append(c.news, gone)
		}
	}
	return c
}

// comm returns a communicator, or nil. The lock is held.
func (w *world) comm(id uint64) *Comm {
	if c := w.last; c != nil && c.id == id {
		return c
	}
	c := w.comms[id]
	if c != nil {
		w.last = c
	}
	return c
}

// unlock gives the lock up, and does what is to be done without it.
func (w *world) unlock() {
	todo := w.todo
	if len(todo) > 0 {
		w.todo = nil
	}
	w.mu.Unlock()
	for _, f := range todo {
		f()
	}
}

// later has f called without the lock.
func (w *world) later(f func()) { w.todo = append(w.todo, f) }

// watch tells the channel of notices of ranks that have gone: the news arrives behind the notices of those ranks.
func (w *world) watch() {
	for gone := range w.control.Deaths(context.Background()) {
		w.mu.Lock()
		w.gone = append(w.gone, gone)
		n := notice{what: noticeGone, rank: int32(len(w.gone) - 1)}
		for _, c := range w.list {
			if c.board != nil {
				c.board.bell.Rouse() // a goroutine may sleep until the rank has come
			}
		}
		w.mu.Unlock()
		if w.control.Note(n.append(nil)) != nil {
			return
		}
	}
}

// watchShort tells the channel of short messages of ranks that have gone, likewise.
func (w *world) watchShort() {
	for gone := range w.look.Deaths(context.Background()) {
		w.depart(gone)
	}
}
