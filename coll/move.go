package coll

import (
	"context"
	"errors"
	"fmt"

	"weft"
	"weft/internal/mem"
)

// scatterBytes is from which length on a Broadcast is scattered first: then each
// member sends a part, not the root everything.
const scatterBytes = 256 << 10

// Broadcast gives all members the slice of root, a member's place. Short ones go
// down a binomial tree; long ones are scattered, and gathered round a ring (van
// de Geijn).
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

// Gather collects the members' slices, all of one length, at root: dst holds them
// in order there, and is not looked at elsewhere.
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

// Scatter gives each member its part of root's src, which holds as many parts as
// there are members, and is not looked at elsewhere.
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

// bruckBytes is up to which length of a part fewer messages count more than fewer
// bytes.
const bruckBytes = 1 << 10

// AllGather collects the members' slices, all of one length, at all of them, in
// order. Short ones take Bruck's algorithm, ⌈log2 n⌉ messages one after another;
// long ones a ring.
func AllGather[T Element](ctx context.Context, g *Group, src, dst []T) (err error) {
	defer begin[T](g, OpAllGather, -1, len(src)).end(&err)
	n, size := g.Size(), len(src)
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
	have := room[T](g, n*size) // parts of members me, me+1, …
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

// AllToAll gives part j of this member's src to member j, and puts what member i
// gives into part i of dst. Short parts take Bruck's algorithm, long ones go to all
// at once.
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

// allToAllBruck sends in round r, for each bit of the way to go, all parts whose
// way has that bit set.
func allToAllBruck[T Element](ctx context.Context, g *Group, src, dst []T, size int) error {
	n := g.Size()
	all := room[T](g, 3*n*size)
	parts, out, in := all[:n*size], all[n*size:2*n*size], all[2*n*size:]
	for i := range n { // part i has i to go
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
	for i := range n { // part i came from i before
		copy(dst[(g.me-i+n)%n*size:], parts[i*size:(i+1)*size])
	}
	return nil
}

// AllToAllV is AllToAll with parts of any length: member j gets send[j] elements
// of src, where the parts lie one after another, and recv[i] come from member i.
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

// starts returns where parts of some lengths begin, and where the last one ends.
func starts(lengths []int) (at []int, end int) {
	for _, n := range lengths {
		at = append(at, end)
		end += max(n, 0)
	}
	return at, end
}

// Barrier waits until all members have called it (dissemination).
func Barrier(ctx context.Context, g *Group) (err error) {
	defer begin[byte](g, OpBarrier, -1, 0).end(&err)
	for bit, n := 1, g.Size(); bit < n; bit <<= 1 {
		if err := exchange(ctx, g, (g.me+bit)%n, []byte(nil), (g.me-bit+n)%n, []byte(nil)); err != nil {
			return err
		}
	}
	return nil
}

// want checks the length of a slice of this member's.
func (g *Group) want(got, want int) error {
	if got != want {
		return &LengthError{g.now.op, -1, got, want}
	}
	return nil
}

// has checks that there is such a member.
func (g *Group) has(member int) error {
	if member < 0 || member >= g.Size() {
		return fmt.Errorf("coll: member %d: the group has members 0 to %d: %w", member, g.Size()-1, weft.ErrRank)
	}
	return nil
}

func sizeOf[T Element](s []T) int { return len(s) * mem.Size[T]() }

// tooLong returns the length of a message that was longer than its buffer.
func tooLong(err error) (int, bool) {
	var e *weft.TooLongError
	if errors.As(err, &e) {
		return e.Size, true
	}
	return 0, false
}

// Exchange sends src to one member, and receives dst from one, at the same time:
// perhaps the same one, or this rank itself.
func Exchange[T Element](ctx context.Context, g *Group, to int, src []T, from int, dst []T) (err error) {
	defer begin[T](g, OpPointToPoint, -1, len(src)).end(&err)
	if err := errors.Join(g.has(to), g.has(from)); err != nil {
		return err
	}
	g.sender = g.port
	defer func() { g.sender = g.collective() }()
	return exchange(ctx, g, to, src, from, dst)
}

// Send sends src to one member, which must receive it. It returns when src may be
// used again: a message of up to 32 KiB has been copied, a longer one received, so
// members that send each other long ones take Exchange.
func Send[T Element](ctx context.Context, g *Group, to int, src []T) (err error) {
	defer begin[T](g, OpPointToPoint, -1, len(src)).end(&err)
	if err := g.has(to); err != nil {
		return err
	}
	g.sender = g.port
	defer func() { g.sender = g.collective() }()
	return send(ctx, g, to, src)
}

// Receive receives into dst what one member sends, and no more or less. From one
// member slices come in the order in which they were sent.
func Receive[T Element](ctx context.Context, g *Group, from int, dst []T) (err error) {
	defer begin[T](g, OpPointToPoint, -1, len(dst)).end(&err)
	if err := g.has(from); err != nil {
		return err
	}
	return receive(ctx, g, from, dst)
}
