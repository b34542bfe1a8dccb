package perf

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"weft"
)

// An ipushBench receives the messages of the other rank by PUSH or IPUSH under one of the conditions of
// [Kitamura06], table 5. A message that is left where it lands stands for conditions (1) and (2). A message that is
// copied from flushed caches comes nearest to (3) and (4), whose window is write-back and flushed. A copy from
// coherent caches has no counterpart in the paper; its condition (5), uncachable memory, has none here.
type ipushBench struct {
	*bench
	box    *weft.Mailbox
	sender *weft.Sender
	user   []byte // to where messages are copied
	copies bool
	flush  bool // of the cache, before the message is read
	turn   uint64
}

// IPushOps are the operations of perf ipush: PUSH and IPUSH, left where they land, or copied to the receiver's
// memory from warm or flushed caches. With ipush-ring short messages go through a ring, too, as they do in the paper.
var IPushOps = []string{
	"push", "push-status", "ipush", "ipush-ring", "push-copied", "ipush-copied", "push-flushed", "ipush-flushed",
}

// leastInRing is the length of a message that goes through a ring. One of up to 40 bytes lies in its record.
const leastInRing = 48

// ipush measures one operation of IPushOps at one size, as half a round trip or as bandwidth. With PUSH the
// receiver polls a word of its region; with IPUSH it takes records from a mailbox, whose ring is for the other rank
// alone.
func (b *bench) ipush(size int) error {
	l := &ipushBench{bench: b, user: make([]byte, size), flush: strings.HasSuffix(b.spec.Op, "-flushed")}
	l.copies = l.flush || strings.HasSuffix(b.spec.Op, "-copied")
	src, err := b.buffer(size)
	if err != nil {
		return err
	}
	if size < 8 {
		return fmt.Errorf("the size must be at least 8")
	}
	var send, recv func() error
	if strings.HasPrefix(b.spec.Op, "ipush") {
		name := fmt.Sprint("perf/", size)
		table := map[int]int{b.peer: 0, b.p.Rank(): weft.NoRing}
		ring := max(size, min(4*size, 128<<10), 4096)
		l.box, err = b.p.OpenMailbox(name, &weft.MailboxConfig{Rings: []int{ring}, Table: table})
		if err != nil {
			return err
		}
		defer l.box.Close()
		if l.sender, err = b.p.AttachMailbox(b.ctx, b.peer, name); err != nil {
			return err
		}
		if b.spec.Op == "ipush-ring" && size < leastInRing {
			src = append(src, make([]byte, leastInRing-size)...)
		}
		send = func() error { return l.sender.Push(b.ctx, src) }
		recv = func() error { return l.take(size) }
	} else {
		b.seen = 0
		b.win.Store(l.flag(size), 0)
		send = func() error { return l.push(src) }
		recv = func() error { return l.arrived(size) }
	}
	if err := b.meet(); err != nil {
		return err
	}
	if b.spec.Figure == "bandwidth" {
		err = l.bandwidth(size, send, recv)
	} else {
		err = b.pingPong(size, send, recv)
	}
	if err == nil {
		err = b.meet()
	}
	return err
}

// push writes a message, and then the word that announces it: its last word, or a word of its own.
func (l *ipushBench) push(src []byte) error {
	l.turn++
	if l.spec.Op == "push-status" || len(src)%8 != 0 {
		var status [8]byte
		if err := l.far.Push(l.ctx, 0, src); err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(status[:], l.turn)
		return l.far.Push(l.ctx, (len(src)+7)&^7, status[:])
	}
	off := len(src) - 8
	binary.LittleEndian.PutUint64(src[off:], l.turn)
	if off > 0 {
		if err := l.far.Push(l.ctx, 0, src[:off]); err != nil {
			return err
		}
	}
	return l.far.Push(l.ctx, off, src[off:])
}

// flag returns the offset of the word that announces a message.
func (l *ipushBench) flag(size int) int {
	if l.spec.Op == "push-status" || size%8 != 0 {
		return (size + 7) &^ 7
	}
	return size - 8
}

// arrived waits for a message that was pushed.
func (l *ipushBench) arrived(size int) error {
	seen, err := l.win.Await(l.ctx, l.flag(size), l.seen)
	l.seen = seen
	l.use(l.win.Bytes()[:size])
	return err
}

// take takes a message from the mailbox, of which size bytes count.
func (l *ipushBench) take(size int) error {
	d, err := l.box.Next(l.ctx)
	if err != nil {
		return err
	}
	l.use(d.Data[:size])
	d.Release()
	return nil
}

// use copies a message, and flushes the cache before, as the condition says.
func (l *ipushBench) use(data []byte) {
	if l.flush {
		flushCache(data)
	}
	if l.copies {
		copy(l.user, data)
	}
}

// bandwidth measures the bandwidth of ping-pong as [Kitamura06] does: the bytes of a message by half a round trip.
func (l *ipushBench) bandwidth(size int, send, recv func() error) error {
	n := max(l.spec.count(size)/4, 50)
	if l.p.Rank() == 1 {
		send, recv = recv, send
	}
	for range 2 { // the first time does not count
		start := time.Now()
		err := repeat(n, func() error {
			if err := send(); err != nil {
				return err
			}
			return recv()
		})
		if err != nil {
			return err
		}
		l.took = time.Since(start)
	}
	return l.report(size, 2*n)
}
