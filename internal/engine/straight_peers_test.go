package engine

import (
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/wire"
)

// A lane takes frames to one rank, as shared memory does, while it has room.
type lane struct {
	frames [][]byte
	room   int
}

func (l *lane) Push(head, payload []byte, urgent bool) bool {
	if len(l.frames) >= l.room {
		return false
	}
	l.frames = append(l.frames, append(append([]byte{b2i(urgent)}, head...), payload...))
	return true
}

func b2i(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// peerSends lets a peer send a message, receive one, or ask.
func (w *twins) peerSends(rank, c int) {
	e := w.peers[rank]
	p := w.peerPorts[rank][c]
	size := []int{0, 8, 20, 300, 1000, 9000}[w.r.IntN(6)]
	if w.r.IntN(16) == 0 || w.tight && w.r.IntN(2) == 0 {
		size = 20000 * (1 + w.r.IntN(2))
	}
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(w.r.IntN(256))
	}
	switch {
	case w.r.IntN(20) == 0:
		p.Start(&msg.Op{Kind: msg.Flush, Peer: 0})
	case size > msg.MaxEager:
		p.Start(&msg.Op{Kind: msg.Send, Peer: 0, Buf: b})
	default:
		p.Give(0, b)
	}
	w.peerSays(e, rank)
}

// peerHears gives a peer what the first twin has sent to it.
func (w *twins) peerHears(rank int) {
	e := w.peers[rank]
	for _, f := range w.lanes[0][rank].frames {
		e.Recv(1, 0, f[1:])
	}
	for i := range w.ranks {
		w.lanes[i][rank].frames = nil
	}
	for _, p := range w.peerPorts[rank] {
		for b, _ := p.Next(msg.Any); b != nil; b, _ = p.Next(msg.Any) {
			p.Release(b)
		}
	}
	e.Advance(1 << 40)
	w.peerSays(e, rank)
}

// peerSays puts what a peer has to send on its way to rank 0.
func (w *twins) peerSays(e *Engine, rank int) {
	for op := e.Msg.Finished(); op != nil; op = e.Msg.Finished() {
	}
	for _, f := range output(e)[0] {
		w.coming[rank] = append(w.coming[rank], f[1:])
	}
}

// output takes what an engine has to send, by rank.
func output(e *Engine) map[int][][]byte {
	all := map[int][][]byte{}
	var out [8]link.Packet
	for {
		to, n, urgent := e.Output(1, out[:])
		if n == 0 {
			return all
		}
		for _, p := range out[:n] {
			all[to] = append(all[to], append(append([]byte{b2i(urgent)}, p.Header...), p.Payload...))
		}
		e.Taken(1, to, n, n, out[:])
	}
}

// first takes the first frame that comes from a peer, or nil.
func (w *twins) first(rank int) []byte {
	if len(w.coming[rank]) == 0 {
		return nil
	}
	f := w.coming[rank][0]
	if d := new(wire.Data); w.r.IntN(12) == 0 {
		if _, err := d.Parse(f); err == nil { // a message in place of what is under way is a lie
			d.Off = 0
			d.Total = 8
			return append(d.Append(nil), "whatever"...)
		}
	}
	w.coming[rank] = w.coming[rank][1:]
	return f
}
