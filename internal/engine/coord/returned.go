package coord

import "weft/internal/engine/link"

// Returned says that the program of a peer has ended: it comes to no barrier any more.
// It has given back its locks, and is the home of what it was the home of.
func (n *Node) Returned(rank int, why *link.PeerError) {
	if n.gone[rank] != nil || n.returned[rank] != nil {
		return
	}
	n.returned[rank] = why
	for _, id := range sorted(n.objects) {
		n.objects[id].absent(rank, why)
	}
	for _, id := range sorted(n.homes) {
		switch h := n.homes[id].(type) {
		case *phaserHome, *regionsHome:
			h.down(rank)
		}
	}
}

// absent takes a peer whose program has ended out of a barrier.
func (o *Object) absent(rank int, why *link.PeerError) {
	if b, ok := o.user.(*barrier); ok {
		b.down(rank, why)
	}
}
