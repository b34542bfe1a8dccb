package match

// An entry is an unexpected message, or a posted receive.
type entry[T any] struct {
	value  T
	source int // a rank; of a receive also Any
	tag    uint64
	mask   uint64      // of a receive: the bits of the tag that are compared
	order  uint64      // of a receive: counts the receives that have been posted; 0: it is not posted
	place  [2]links[T] // its links in the lists own and common
}

// The lists in which an entry stands.
const (
	own    = iota // the list of its source
	common        // of a message: the list of all messages, in order of arrival
)

type links[T any] struct{ next, prev *entry[T] }

// A list holds entries in the order in which they came.
type list[T any] struct{ head, tail *entry[T] }

func (l *list[T]) push(e *entry[T], place int) {
	e.place[place] = links[T]{prev: l.tail}
	if l.tail == nil {
		l.head = e
	} else {
		l.tail.place[place].next = e
	}
	l.tail = e
}

func (l *list[T]) pushFront(e *entry[T], place int) {
	e.place[place] = links[T]{next: l.head}
	if l.head == nil {
		l.tail = e
	} else {
		l.head.place[place].prev = e
	}
	l.head = e
}

func (l *list[T]) remove(e *entry[T], place int) {
	at := e.place[place]
	if at.prev == nil {
		l.head = at.next
	} else {
		at.prev.place[place].next = at.next
	}
	if at.next == nil {
		l.tail = at.prev
	} else {
		at.next.place[place].prev = at.prev
	}
	e.place[place] = links[T]{}
}

// A pool keeps entries that are not used, so that in the long run none is allocated.
type pool[T any] struct{ free *entry[T] }

func (p *pool[T]) get() *entry[T] {
	e := p.free
	if e == nil {
		return new(entry[T])
	}
	p.free = e.place[own].next
	e.place[own].next = nil
	return e
}

// put takes an entry back. It clears the value, which may hold memory.
func (p *pool[T]) put(e *entry[T]) {
	*e = entry[T]{}
	e.place[own].next = p.free
	p.free = e
}
