package npb

import (
	"context"
	"errors"
	"unsafe"

	"weft"
)

// A Comm is the ranks of a benchmark with the collective operations on them.
// Their number is a power of two. All ranks call the same operations in the
// same order.
type Comm struct {
	P    *weft.Proc
	port *weft.Port
	tmp  []byte
}

// NewComm opens the channel that the operations use.
func NewComm(ctx context.Context, p *weft.Proc) (*Comm, error) {
	port, err := p.Open(ctx, 100, nil)
	if err != nil {
		return nil, err
	}
	return &Comm{P: p, port: port}, nil
}

// Bytes returns the memory of numbers.
func Bytes(v []int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// Ints returns memory as numbers. It must begin at a multiple of 4.
func Ints(b []byte) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// Alloc returns n numbers in memory that the ranks of this host can read.
func (c *Comm) Alloc(n int) ([]int32, error) {
	b, err := c.P.Alloc(4 * n)
	return Ints(b), err
}

// Sum adds up v over all ranks, in place, by recursive doubling: in each step
// ranks that differ in one bit exchange what they have.
func (c *Comm) Sum(ctx context.Context, v []int32) error {
	if len(c.tmp) < 4*len(v) {
		c.tmp = make([]byte, 4*len(v))
	}
	tmp := c.tmp[:4*len(v)]
	for bit := 1; bit < c.P.Size(); bit <<= 1 {
		partner := c.P.Rank() ^ bit
		if err := c.exchange(ctx, partner, Bytes(v), partner, tmp); err != nil {
			return err
		}
		for i, x := range Ints(tmp) {
			v[i] += x
		}
	}
	return nil
}

// exchange sends to one rank and receives from another. A long message leaves
// only when its receiver takes it, so the two go on side by side.
func (c *Comm) exchange(ctx context.Context, to int, out []byte, from int, in []byte) error {
	sent, err := c.port.StartSend(ctx, to, out)
	if err != nil {
		return err
	}
	_, err = c.port.RecvIntoFrom(ctx, from, in)
	return errors.Join(err, wait(ctx, sent))
}

// AllToAll gives rank i our out[i], and puts what rank i has for us into
// in[i].
func (c *Comm) AllToAll(ctx context.Context, in, out []int32) error {
	me, n := c.P.Rank(), c.P.Size()
	in[me] = out[me]
	for k := 1; k < n; k++ {
		to := (me + k) % n
		if err := c.port.Send(ctx, to, Bytes(out[to:to+1])); err != nil {
			return err
		}
	}
	for k := 1; k < n; k++ {
		from := (me - k + n) % n
		if _, err := c.port.RecvIntoFrom(ctx, from, Bytes(in[from:from+1])); err != nil {
			return err
		}
	}
	return nil
}

// AllToAllV gives rank i the next outCount[i] numbers of out, and puts the
// inCount[i] numbers that rank i has for us one after the other into in.
func (c *Comm) AllToAllV(ctx context.Context, in, inCount, out, outCount []int32) error {
	me, n := c.P.Rank(), c.P.Size()
	var sent []*weft.Op
	for k := 1; k < n; k++ {
		to := (me + k) % n
		at := sum(outCount[:to])
		op, err := c.port.StartSend(ctx, to, Bytes(out[at:at+int(outCount[to])]))
		if err != nil {
			return err
		}
		sent = append(sent, op)
	}
	at, from := sum(outCount[:me]), sum(inCount[:me])
	copy(in[from:], out[at:at+int(outCount[me])])
	for k := 1; k < n; k++ {
		rank := (me - k + n) % n
		at := sum(inCount[:rank])
		if _, err := c.port.RecvIntoFrom(ctx, rank, Bytes(in[at:at+int(inCount[rank])])); err != nil {
			return err
		}
	}
	return wait(ctx, sent...)
}

// wait waits for operations.
func wait(ctx context.Context, ops ...*weft.Op) (err error) {
	for _, op := range ops {
		err = errors.Join(err, op.Wait(ctx))
		op.Free()
	}
	return err
}

func sum(v []int32) (s int) {
	for _, x := range v {
		s += int(x)
	}
	return s
}

// Shift sends one number to the next rank, and returns the one of the rank
// before; the first rank gets the least number there is.
func (c *Comm) Shift(ctx context.Context, v int32) (int32, error) {
	if c.P.Rank() < c.P.Size()-1 {
		if err := c.port.Send(ctx, c.P.Rank()+1, Bytes([]int32{v})); err != nil {
			return 0, err
		}
	}
	got := []int32{-1 << 31}
	if c.P.Rank() > 0 {
		if _, err := c.port.RecvIntoFrom(ctx, c.P.Rank()-1, Bytes(got)); err != nil {
			return 0, err
		}
	}
	return got[0], nil
}

// Barrier returns when all ranks have called it.
func (c *Comm) Barrier(ctx context.Context) error { return c.Sum(ctx, make([]int32, 1)) }

// Close closes the channel.
func (c *Comm) Close() error { return c.port.Close() }
