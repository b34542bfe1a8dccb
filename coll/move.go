package coll

import (
	"context"
	"errors"
	"fmt"

	"weft"
	"weft/internal/mem"
)

// scatterBytes is the length in bytes from which on Broadcast scatters the slice first, so that
// every member sends a part and the root does not send everything.
const scatterBytes = 256 << 10

// Broadcast copies the slice of root, a member's place, into the slices of all members, all of one
// length. Slices of less than 256 KiB go down a binomial tree; longer ones are scattered, and
// gathered round a ring (van de Geijn's algorithm).
func Broadcast[T Element](ctx context.Context, g *Group, root int, buf []T) (err error) {
	defer begin[T](g, OpBroadcast, root, len(buf)).end(&err)
	if err := g.has(root); err != nil {
		return err
	}
	n := g.Size()
	if n > 2 && sizeOf(buf) >= scatterBytes && len(buf) >= n {
		return broadcastScattered(ctx, g, root, buf)
	}
	me := (g.me - root + n) % n
	bit := 1
	for ; bit < n; bit <<= 1 {
		if me&bit != 0 {
			if err := receive(ctx, g, (me-bit+root)%n, buf); err != nil {
				return err
			}
			break
		}
	}
	for bit >>= 1; bit > 0; bit >>= 1 {
		if me+bit < n {
			if err := send(ctx, g, (me+bit+root)%n, buf); err != nil {
				return err
			}
		}
	}
	return nil
}

// broadcastScattered is Broadcast by scatter and ring all-gather.
func broadcastScattered[T Element](ctx context.Context, g *Group, root int, buf []T) error {
	n := g.Size()
	at := func(i int) []T {
		s := part(len(buf), n, (i%n+n)%n)
		return buf[s.from:s.to]
	}
	if g.me == root {
		for i := range n {
			if i != root {
				if err := send(ctx, g, i, at(i)); err != nil {
					return err
				}
			}
		}
	} else if err := receive(ctx, g, root, at(g.me)); err != nil {
		return err
	}
	for step := range n - 1 {
		if err := exchange(ctx, g, (g.me+1)%n, at(g.me-step), (g.me+n-1)%n, at(g.me-step-1)); err != nil {
			return err
		}
	}
	return nil
}

// Gather collects the members' slices src, all of one length, at root, a member's place: there dst
// holds them in the order of the members. At other members dst is not used.
func Gather[T Element](ctx context.Context, g *Group, root int, src, dst []T) (err error) {
	defer begin[T](g, OpGather, root, len(src)).end(&err)
	if err := g.has(root); err != nil {
		return err
	}
	if g.me != root {
		return send(ctx, g, root, src)
	}
	if err := g.want(len(dst), len(src)*g.Size()); err != nil {
		return err
	}
	for i := range g.Size() {
		to := dst[i*len(src) : (i+1)*len(src)]
		if i == root {
			copy(to, src)
		} else if err := receive(ctx, g, i, to); err != nil {
			return err
		}
	}
	return nil
}

// Scatter gives each member its part of root's src, which holds one part for each member, in order.
// At other members src is not used.
func Scatter[T Element](ctx context.Context, g *Group, root int, src, dst []T) (err error) {
	defer begin[T](g, OpScatter, root, len(dst)).end(&err)
	if err := g.has(root); err != nil {
		return err
	}
	if g.me != root {
		return receive(ctx, g, root, dst)
	}
	if err := g.want(len(src), len(dst)*g.Size()); err != nil {
		return err
	}
	for i := range g.Size() {
		from := src[i*len(dst) : (i+1)*len(dst)]
		if i == root {
			copy(dst, from)
		} else if err := send(ctx, g, i, from); err != nil {
			return err
		}
	}
	return nil
}

// bruckBytes is the length in bytes of the longest part for which fewer messages are worth more
// than fewer bytes.
const bruckBytes = 1 << 10

// AllGather collects the members' slices src, all of one length, in the dst of all members, in the
// order of the members. Slices of up to 1 KiB take Bruck's algorithm, ⌈log2 n⌉ messages one after
// another [Bruck97]; longer ones a ring.
func AllGather[T Element](ctx context.Context, g *Group, src, dst []T) (err error) {
	defer begin[T](g, OpAllGather, -1, len(src)).end(&err)
	n := g.Size()
	size := len(src)
	if err := g.want(len(dst), n*size); err != nil {
		return err
	}
	if sizeOf(src) > bruckBytes {
		at := func(i int) []T { i = (i%n + n) % n; return dst[i*size : (i+1)*size] }
		copy(at(g.me), src)
		for step := range n - 1 {
			if err := exchange(ctx, g, (g.me+1)%n, at(g.me-step), (g.me+n-1)%n, at(g.me-step-1)); err != nil {
				return err
			}
		}
		return nil
	}
	have := room[T](g, n*size) // the parts of the members me, me+1, …
	copy(have, src)
	for bit := 1; bit < n; bit <<= 1 {
		k := min(bit, n-bit) * size
		if err := exchange(ctx, g, (g.me-bit+n)%n, have[:k], (g.me+bit)%n, have[bit*size:bit*size+k]); err != nil {
			return err
		}
	}
	for i := range n {
		copy(dst[(g.me+i)%n*size:], have[i*size:(i+1)*size])
	}
	return nil
}

// AllToAll sends part j of this member's src to member j, and puts what member i sends into part i
// of dst. Both slices have one part for each member, all of one length. Parts of up to 256 bytes
// among more than 4 members take Bruck's algorithm [Bruck97]; others are all exchanged at once.
func AllToAll[T Element](ctx context.Context, g *Group, src, dst []T) (err error) {
	defer begin[T](g, OpAllToAll, -1, len(src)).end(&err)
	n := g.Size()
	size := len(src) / n
	if err := g.want(len(src), size*n); err != nil {
		return err
	}
	if err := g.want(len(dst), len(src)); err != nil {
		return err
	}
	if n > 4 && size*mem.Size[T]() <= bruckBytes/4 {
		return allToAllBruck(ctx, g, src, dst, size)
	}
	part := func(s []T, i int) []T { return s[i*size : (i+1)*size] }
	copy(part(dst, g.me), part(src, g.me))
	return exchanges(ctx, g, func(i int) []T { return part(src, i) }, func(i int) []T { return part(dst, i) })
}

// allToAllBruck is AllToAll by Bruck's algorithm: in the round of a bit it forwards, by as many
// members, all parts in whose remaining distance that bit is set.
func allToAllBruck[T Element](ctx context.Context, g *Group, src, dst []T, size int) error {
	n := g.Size()
	all := room[T](g, 3*n*size)
	parts := all[:n*size]
	out := all[n*size : 2*n*size]
	in := all[2*n*size:]
	for i := range n { // part i has the distance i to go
		copy(parts[i*size:(i+1)*size], src[(g.me+i)%n*size:])
	}
	for bit := 1; bit < n; bit <<= 1 {
		k := 0
		for i := range n {
			if i&bit != 0 {
				k += copy(out[k:], parts[i*size:(i+1)*size])
			}
		}
		if err := exchange(ctx, g, (g.me+bit)%n, out[:k], (g.me-bit+n)%n, in[:k]); err != nil {
			return err
		}
		k = 0
		for i := range n {
			if i&bit != 0 {
				k += copy(parts[i*size:(i+1)*size], in[k:])
			}
		}
	}
	for i := range n { // part i comes from the member i places before
		copy(dst[(g.me-i+n)%n*size:], parts[i*size:(i+1)*size])
	}
	return nil
}

// AllToAllV is AllToAll with parts of any length: member j gets send[j] elements of src, in which
// the parts lie one after another, and recv[i] elements of dst come from member i.
func AllToAllV[T Element](ctx context.Context, g *Group, src []T, send []int, dst []T, recv []int) (err error) {
	defer begin[T](g, OpAllToAllV, -1, 0).end(&err)
	n := g.Size()
	if err := g.want(len(send), n); err != nil {
		return err
	}
	if err := g.want(len(recv), n); err != nil {
		return err
	}
	from, total := starts(send)
	if err := g.want(len(src), total); err != nil {
		return err
	}
	to, total := starts(recv)
	if err := g.want(len(dst), total); err != nil {
		return err
	}
	if err := g.want(recv[g.me], send[g.me]); err != nil {
		return err
	}
	part := func(i int) []T { return src[from[i] : from[i]+send[i]] }
	dest := func(i int) []T { return dst[to[i] : to[i]+recv[i]] }
	copy(dest(g.me), part(g.me))
	return exchanges(ctx, g, part, dest)
}

// starts returns where parts of the given lengths begin, and where the last one ends.
func starts(lengths []int) (at []int, end int) {
	for _, n := range lengths {
		at = append(at, end)
		end += max(n, 0)
	}
	return at, end
}

// Barrier returns when all members have called it. It takes dissemination, ⌈log2 n⌉ rounds
// [Hensgen88].
func Barrier(ctx context.Context, g *Group) (err error) {
	defer begin[byte](g, OpBarrier, -1, 0).end(&err)
	for bit, n := 1, g.Size(); bit < n; bit <<= 1 {
		if err := exchange(ctx, g, (g.me+bit)%n, []byte(nil), (g.me-bit+n)%n, []byte(nil)); err != nil {
			return err
		}
	}
	return nil
}

// want returns a LengthError unless a slice of this member has the length that it must have.
func (g *Group) want(got, want int) error {
	if got != want {
		return &LengthError{g.now.op, -1, got, want}
	}
	return nil
}

// has returns an error unless the group has a member at this place.
func (g *Group) has(member int) error {
	if member < 0 || member >= g.Size() {
		return fmt.Errorf("coll: member %d: the group has members 0 to %d: %w", member, g.Size()-1, weft.ErrRank)
	}
	return nil
}

// sizeOf returns the length of a slice in bytes.
func sizeOf[T Element](s []T) int { return len(s) * mem.Size[T]() }

// tooLong returns the length of a message that was longer than the buffer for it.
func tooLong(err error) (int, bool) {
	var e *weft.TooLongError
	if errors.As(err, &e) {
		return e.Size, true
	}
	return 0, false
}

// Exchange sends src to the member to, and receives dst from the member from, at the same time. The
// two may be the same member, and may be this one.
func Exchange[T Element](ctx context.Context, g *Group, to int, src []T, from int, dst []T) (err error) {
	defer begin[T](g, OpPointToPoint, -1, len(src)).end(&err)
	if err := errors.Join(g.has(to), g.has(from)); err != nil {
		return err
	}
	g.sender = g.port
	defer func() { g.sender = g.collective() }()
	return exchange(ctx, g, to, src, from, dst)
}

// Send sends src to one member, which must call Receive. It returns when src may be reused: a
// message of up to 32 KiB has been copied then, a longer one may have to be received. So members that
// send long slices to each other must use Exchange.
func Send[T Element](ctx context.Context, g *Group, to int, src []T) (err error) {
	defer begin[T](g, OpPointToPoint, -1, len(src)).end(&err)
	if err := g.has(to); err != nil {
		return err
	}
	g.sender = g.port
	defer func() { g.sender = g.collective() }()
	return send(ctx, g, to, src)
}

// Receive receives into dst what one member sends, which must have the length of dst. Slices from
// one member arrive in the order in which they were sent.
func Receive[T Element](ctx context.Context, g *Group, from int, dst []T) (err error) {
	defer begin[T](g, OpPointToPoint, -1, len(dst)).end(&err)
	if err := g.has(from); err != nil {
		return err
	}
	return receive(ctx, g, from, dst)
}
