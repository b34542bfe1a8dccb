package list

// A List is a list of values that carry their own links. The zero List is empty. A List that has values must not be
// copied.
type List[T any] struct{ first, last *Link[T] }

// A Link is the place of a value in a List. It is a field of the value, which is in at most
// one List at a time by each of its links.
type Link[T any] struct {
	prev, next *Link[T]
	in         *List[T] // nil: in none
	value      *T
}

// Next returns the value after this one, or nil.
func (k *Link[T]) Next() *T {
	if k.next == nil {
		return nil
	}
	return k.next.value
}

// Listed reports whether the value is in a list.
func (k *Link[T]) Listed() bool { return k.in != nil }

// Empty reports whether the list has no values.
func (l *List[T]) Empty() bool { return l.first == nil }

// First returns the first value, or nil.
func (l *List[T]) First() *T {
	if l.first == nil {
		return nil
	}
	return l.first.value
}

// Len returns the number of values. It walks the list.
func (l *List[T]) Len() (n int) {
	for k := l.first; k != nil; k = k.next {
		n++
	}
	return n
}

// Push appends a value, whose link is k.
func (l *List[T]) Push(k *Link[T], value *T) { l.InsertAfter(l.last, k, value) }

// PushFront puts a value, whose link is k, before all others.
func (l *List[T]) PushFront(k *Link[T], value *T) { l.InsertAfter(nil, k, value) }

// InsertAfter puts a value, whose link is k, behind the value whose link is at, or before all others if at is nil.
func (l *List[T]) InsertAfter(at, k *Link[T], value *T) {
	k.in = l
	k.value = value
	k.prev = at
	if at == nil {
		k.next = l.first
		l.first = k
	} else {
		k.next = at.next
		at.next = k
	}
	if k.next == nil {
		l.last = k
	} else {
		k.next.prev = k
	}
}

// Pop removes the first value and returns it, or nil.
func (l *List[T]) Pop() *T {
	k := l.first
	if k == nil {
		return nil
	}
	l.Remove(k)
	return k.value
}

// Remove takes the value whose link is k off the list, and reports whether it was there.
func (l *List[T]) Remove(k *Link[T]) bool {
	if k.in != l {
		return false
	}
	if k.prev == nil {
		l.first = k.next
	} else {
		k.prev.next = k.next
	}
	if k.next == nil {
		l.last = k.prev
	} else {
		k.next.prev = k.prev
	}
	k.in = nil
	k.prev = nil
	k.next = nil
	return true
}

// Take removes the values for which match reports true, and calls f with each of them. While it runs, f may push to
// the list, but remove nothing: what it pushes stays, behind the others.
func (l *List[T]) Take(match func(*T) bool, f func(*T)) {
	last := l.last
	for k := l.first; k != nil; {
		at := k
		k = k.next
		if at == last {
			k = nil
		}
		if match(at.value) {
			l.Remove(at)
			f(at.value)
		}
	}
}
