package stream

import (
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"weft/internal/sys"
)

// A debtor is a process that this one lends memory to. Two connections lie in one arena only if their diallers are the
// same process, which runs the same program as the same user: a program that has taken another one's place by execve
// does not share memory with what that one has left behind.
type debtor struct {
	process uint64 // the kernel's number of it, which no other process ever has; 0 if it is not known
	image   uint64 // the random number of its program, by the dialler's name
	peer    Peer
	buffer  int // not of the process: all connections in an arena have rings of one size
}

// debtor returns the process at the other end.
func (c *Conn) debtor() debtor {
	d := debtor{image: c.early.image, peer: c.remote.Peer, buffer: c.buffer}
	if raw, err := c.first.SyscallConn(); err == nil {
		d.process = sys.PeerProcess(raw)
	}
	return d
}

// lent has the arenas of which this process lends slots.
var lent = lending{arenas: map[debtor][]*arena{}}

type lending struct {
	mu     sync.Mutex
	arenas map[debtor][]*arena
}

// single is how many connections of a process have arenas of one slot: nothing is to be shared yet, and such an arena
// needs no descriptor.
const single = 4

// lend lends a slot, which has no owner at the other side yet, and returns its turn. The caller owns far, if it is not
// -1: the other end of the bell of the arena's hub, which is to be passed with the slot.
func (l *lending) lend(d debtor) (s slot, turn uint32, far int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	users := 0
	for _, a := range l.arenas[d] {
		if n, ok := a.find(); ok {
			s, turn = a.lend(n)
			return s, turn, a.takeFar(), nil
		}
		users += a.users
	}
	a, err := newArena(d, users)
	if err != nil {
		return slot{}, 0, -1, err
	}
	if d.process != 0 {
		l.arenas[d] = append(l.arenas[d], a)
	}
	n, _ := a.find()
	s, turn = a.lend(n)
	return s, turn, a.takeFar(), nil
}

// takeFar returns the other end of the hub's bell, once. lent.mu is held.
func (a *arena) takeFar() int {
	far := a.far
	a.far = -1
	return far
}

// newArena makes an arena for one more connection of a process that has some in memory: for as many as those.
func newArena(d debtor, users int) (*arena, error) {
	y := d.layout(users)
	if !reserve() {
		return nil, syscall.ENOMEM
	}
	fd, mem, err := sys.NewMemory("weft stream", y.bytes(), false)
	if err != nil {
		mapped.Add(-1)
		return nil, err
	}
	a := &arena{layout: y, mem: mem, debtor: d, fd: fd, far: -1, turns: make([]uint32, y.slots)}
	a.conns = make([]atomic.Pointer[Conn], y.slots)
	if y.slots > 1 {
		if here, there, err := sys.Pair(); err == nil {
			a.far = there
			a.hub.Store(newHub(a, lender, here))
		}
	}
	for n := y.slots - 1; n >= 0; n-- {
		a.free = append(a.free, n)
	}
	return a, nil
}

// layout returns how the next arena for a process is cut that has so many connections in memory.
func (d debtor) layout(users int) layout {
	if users < single || d.process == 0 {
		return layout{slots: 1, buffer: d.buffer}
	}
	return layout{slots: max(min(users, mostArena/memoryBytes(d.buffer)-1), 1), buffer: d.buffer}
}

// find returns a slot that nobody uses. lent.mu is held.
func (a *arena) find() (n int, ok bool) {
	if k := len(a.free) - 1; k >= 0 {
		n = a.free[k]
		a.free = a.free[:k]
		return n, true
	}
	if a.fd < 0 {
		return 0, false
	}
	for i, n := range a.awaited {
		if atomic.LoadUint32(a.state(n)) == 0 {
			a.awaited = slices.Delete(a.awaited, i, i+1)
			return n, true
		}
	}
	return 0, false
}

// lend lends slot n, whose words are as new. lent.mu is held.
func (a *arena) lend(n int) (s slot, turn uint32) {
	turn = a.turns[n]%mostTurns + 1
	a.turns[n] = turn
	a.users++
	s = slot{a, n, lender}
	clear(s.mem()[:wordsBytes])
	atomic.StoreUint32(a.state(n), turn<<turnShift|lender)
	return s, turn
}

// passed is called when the slot of an arena has been offered with its descriptor.
func (l *lending) passed(a *arena) {
	if a.slots > 1 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	sys.CloseFD(a.fd)
	a.fd = -1
}

// leave takes a slot back from this end, and gives back an arena in which this process has no connection any more.
func (l *lending) leave(s slot, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := s.arena
	if a.users--; a.users > 0 {
		if last {
			a.free = append(a.free, s.n)
		} else {
			a.awaited = append(a.awaited, s.n)
		}
		return
	}
	if list := l.arenas[a.debtor]; len(list) > 1 {
		if i := slices.Index(list, a); i >= 0 {
			l.arenas[a.debtor] = slices.Delete(list, i, i+1)
		}
	} else if len(list) == 1 && list[0] == a {
		delete(l.arenas, a.debtor)
	}
	a.giveBack()
}
