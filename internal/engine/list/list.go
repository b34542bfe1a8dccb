package list

// A List is a first-in first-out list of values that carry their own links. The zero List
// is empty.
type List[T any] struct{ first, last *Link[T] }

// A Link is the place of a value in a List. It is a field of the value, which is in at most
// one List at a time.
type Link[T any] struct {
	next  *Link[T]
	value *T
}

// Next returns the value after this one, or nil.
func (k *Link[T]) Next() *T {
	if k.next == nil {
		return nil
	}
	return k.next.value
}

// Empty reports whether the list has no values.
func (l *List[T]) Empty() bool { return l.first == nil }

// First returns the oldest value, or nil.
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
func (l *List[T]) Push(k *Link[T], value *T) {
	k.next = nil
	k.value = value
	if l.last == nil {
		l.first = k
	} else {
		l.last.next = k
	}
	l.last = k
}

// PushFront puts a value, whose link is k, before all others.
func (l *List[T]) PushFront(k *Link[T], value *T) {
	k.next = l.first
	k.value = value
	l.first = k
	if l.last == nil {
		l.last = k
	}
}

// Pop removes the oldest value and returns it, or nil.
func (l *List[T]) Pop() *T {
	k := l.first
	if k == nil {
		return nil
	}
	l.first = k.next
	if l.first == nil {
		l.last = nil
	}
	k.next = nil
	return k.value
}

// Remove takes the value whose link is k off the list, and reports whether it was there.
func (l *List[T]) Remove(k *Link[T]) bool {
	if l.first == k { // nearly always
		l.Pop()
		return true
	}
	for before := l.first; before != nil; before = before.next {
		if before.next != k {
			continue
		}
		before.next = k.next
		if l.last == k {
			l.last = before
		}
		k.next = nil
		return true
	}
	return false
}

// Take removes the values for which match reports true, and calls f with each of them. The
// others keep their order. While it runs, f may push to the list: what it pushes stays.
func (l *List[T]) Take(match func(*T) bool, f func(*T)) {
	rest := *l
	*l = List[T]{}
	for k := rest.first; k != nil; k = rest.first {
		value := rest.Pop()
		if match(value) {
			f(value)
		} else {
			l.Push(k, value)
		}
	}
}
