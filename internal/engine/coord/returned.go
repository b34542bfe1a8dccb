package coord

import "weft/failure"

// Returned says that the program of a peer has ended: it comes to no barrier any more.
// It has given back its locks, and is the home of what it was the home of.
func (l *Layer) Returned(rank int, why *failure.PeerError) {
	if l.gone[rank] != nil || l.returned[rank] != nil {
		return
	}
	l.returned[rank] = why
	for _, id := range sorted(l.objects) {
		l.objects[id].absent(rank, why)
	}
	for _, id := range sorted(l.homes) {
		if h, ok := l.homes[id].(*regionsHome); ok {
			h.down(rank)
		}
	}
}

// absent ends the part of a peer in a barrier: the program of the peer has ended.
func (o *Object) absent(rank int, why *failure.PeerError) {
	switch u := o.participant.(type) {
	case *barrier:
		u.down(rank, why)
	case *regions:
		u.lose(rank)
	}
}
