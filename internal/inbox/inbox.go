package inbox

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"weft/failure"
	"weft/internal/driver"
	"weft/internal/engine/rma"
	"weft/internal/mailbox"
	"weft/internal/mem"
	"weft/internal/sharedmem"
	"weft/internal/sys"
	"weft/internal/timeline"
)

// A Host is what the mailboxes of a process need of it.
type Host struct {
	Node     *driver.Node
	Memory   *sharedmem.Table
	Timeline *timeline.Recorder // or nil
	Rank     int
	Size     int // ranks of the job
}

// Config describes a mailbox to Open.
type Config struct {
	Name     string           // of the region in which the mailbox lies
	Geometry mailbox.Geometry // with more rings than Sizes, for those that are made later
	Sizes    []int            // of the rings at first, in bytes
	Table    map[int]int      // from rank to ring; ranks that are not in it have ring 0
	Stall    bool             // a full ring stops the sender's link
}

// An Inbox is the owner's end of a mailbox. Any number of goroutines may use it.
type Inbox struct {
	host   *Host
	region *rma.Region
	box    *mailbox.Box
	whole  sharedmem.Segment // including the word at its end that tells senders that the mailbox is closed

	rings sync.Mutex // held while rings are changed
	used  int        // bytes of memory that rings have: those before them are taken

	latch  mem.Latch // of what follows
	reader *mailbox.Reader
	rec    mailbox.Record // the record that take reads
	joiner mailbox.Joiner
	idle   *loaned // free ones
	told   int     // how many ends of ranks have been reported
	inside int     // goroutines that wait; Close waits for them
	asleep int     // those of them that sleep
	closed atomic.Bool
}

// Open makes a mailbox.
func Open(h *Host, c Config) (*Inbox, error) {
	whole, err := h.Memory.Share(c.Geometry.Size()+8, false)
	if err != nil {
		return nil, err
	}
	m := &Inbox{host: h, whole: whole}
	bytes := whole.Bytes[:len(whole.Bytes)-8]
	if m.box, err = mailbox.New(bytes, c.Geometry); err == nil {
		m.reader = mailbox.NewReader(m.box)
		for i := range c.Geometry.Rings {
			m.box.Shut(i)
		}
		for i, size := range c.Sizes {
			m.box.Place(i, m.used, size)
			m.used += size
		}
		err = m.fill(c.Table)
	}
	if err == nil {
		m.region, err = h.Node.ExposeMailbox(c.Name, m.box, bytes, whole.ID, c.Stall)
	}
	if err != nil {
		_ = h.Memory.Drop(whole)
		return nil, err
	}
	return m, nil
}

// TryNext returns in d the next message, if one has arrived.
func (m *Inbox) TryNext(d *Delivery) (ok bool, err error) {
	if ok, err = m.take(d, true, 1, 0, 0); !ok && err == nil {
		m.host.Node.Assist()
		if ok, err = m.take(d, true, 1, 0, 0); !ok && err == nil {
			m.host.Node.Vain()
		}
	}
	return ok, err
}

// Next returns in d the next message, or the next packet unless join is set, and waits for it if there is none.
func (m *Inbox) Next(ctx context.Context, d *Delivery, join bool) error {
	ok, err := m.take(d, join, m.host.Node.Looks(), 0, 1)
	for !ok && err == nil {
		began := m.host.Timeline.Mark()
		err = m.await(ctx)
		if m.host.Timeline != nil {
			m.host.Timeline.Note(began, timeline.Mail, 0, timeline.Nobody, 0, err)
		}
		if err != nil {
			m.leave()
			return err
		}
		ok, err = m.take(d, join, 1, 1, 1)
	}
	return err
}

// await returns when there may be a message.
func (m *Inbox) await(ctx context.Context) error {
	if !m.host.Node.Hosted() {
		ready := func() bool { return m.closed.Load() || m.box.Ready() }
		if ok, err := m.host.Node.Spin(ctx, ready); ok || err != nil {
			return err
		}
	}
	m.doze(1)
	defer m.doze(-1)
	// A sender may have written its record before it could see that this goroutine sleeps.
	// After a system call the record is visible here.
	sys.Yield()
	if m.box.Ready() {
		return nil
	}
	seen := m.host.Node.Departures()
	if !m.recover() {
		return m.pause(ctx, retryRecover)
	}
	if err := m.loss(); err != nil {
		return err
	}
	c := driver.NewCall()
	defer c.Free()
	c.RMA.Kind = rma.Await
	c.RMA.Peer = m.host.Rank
	c.RMA.Region = m.region.ID
	return m.host.Node.AwaitMail(ctx, c, seen)
}

// pause returns after d, or earlier with the error of ctx.
func (m *Inbox) pause(ctx context.Context, d time.Duration) error {
	if m.host.Node.Hosted() {
		return m.host.Node.SleepHosted(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-driver.Endless(ctx).Done():
		return ctx.Err()
	}
}

// leave ends a wait without a message.
func (m *Inbox) leave() {
	m.latch.Lock()
	defer m.latch.Unlock()
	m.inside--
}

// loss returns the death of a rank that has not been reported, or nil. That a rank has left in
// good order is reported only if no other rank is left that could send.
func (m *Inbox) loss() error {
	for {
		m.latch.Lock()
		told := m.told
		m.latch.Unlock()
		rank, gone := m.host.Node.Departed(told)
		if gone == nil || m.box.Ready() { // messages that it had sent come first
			return nil
		}
		m.latch.Lock()
		news := m.told == told // else another goroutine reports it
		if news {
			m.told++
		}
		m.latch.Unlock()
		if news && rank != m.host.Rank && (!gone.Clean || told == m.host.Size-2) {
			return gone
		}
	}
}

// doze counts the goroutines that sleep. While there are any, senders send a KNOCK.
func (m *Inbox) doze(n int) {
	m.latch.Lock()
	defer m.latch.Unlock()
	m.asleep += n
	m.box.Waits(m.asleep > 0)
}

// Close gives the mailbox's memory back. Messages that have not been taken are lost. Messages on loan must not be used
// any more.
func (m *Inbox) Close() error {
	m.latch.Lock()
	closed := m.closed.Swap(true)
	m.latch.Unlock()
	if closed {
		return failure.ErrClosed
	}
	mem.Store64(m.whole.Bytes, len(m.whole.Bytes)-8, 1)
	m.host.Node.Withdraw(m.region)
	for m.waited() {
		runtime.Gosched() // these goroutines still look at the memory
		m.host.Node.Vain()
	}
	return m.host.Memory.Drop(m.whole)
}

func (m *Inbox) waited() bool {
	m.latch.Lock()
	defer m.latch.Unlock()
	return m.inside > 0
}
