package weft

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"weft/internal/driver"
	"weft/internal/engine/rma"
	"weft/internal/mailbox"
	"weft/internal/mem"
	"weft/internal/sharedmem"
	"weft/internal/sys"
	"weft/internal/timeline"
)

// A FullPolicy says what happens to a message for which a mailbox has no room.
type FullPolicy uint8

const (
	// RefuseWhenFull refuses the message; the mailbox tells the sender to send it again
	// when there is room. Other traffic from the sender goes on meanwhile.
	RefuseWhenFull FullPolicy = iota
	// StallWhenFull stops the sender's link until there is room, and with it all other
	// traffic from the sender, as simple hardware does. It has this effect only on
	// transports with a lossy link, UDP and raw Ethernet; over shared memory and TCP it is
	// the same as RefuseWhenFull.
	StallWhenFull
)

// NoRing in place of the number of a ring refuses a sender.
const NoRing = mailbox.NoRing

// MailboxConfig configures a mailbox. Zero values mean the defaults.
type MailboxConfig struct {
	// Rings are the sizes of the rings in bytes, each rounded up to a multiple of 64. If
	// there are none, the rings are those of weft run -amt, or else one ring of 256 KiB for
	// all senders. A message can be as long as its ring.
	Rings []int

	// Table assigns rings to senders: from rank to ring (the AMT Address Table). Ranks that
	// are not in it have ring 0; NoRing refuses a rank.
	Table map[int]int

	// Records is how many messages can wait in the mailbox, or how many packets where a ring
	// is shared. 0 means 1024. It is rounded up to a power of two, from 16 to 2^24. Messages
	// of up to 40 bytes lie in their record, and take no room in a ring.
	Records int

	// Spare is memory, in bytes, for rings that are made or enlarged later.
	Spare int

	// Full says what happens to a message for which there is no room.
	Full FullPolicy
}

const (
	defaultRing    = 256 << 10
	defaultRecords = 1024
	minRecords     = 16
	moreRings      = 64 // entries of the AMT beyond those asked for
)

// A Mailbox takes messages from other ranks into memory that this rank assigns: a
// receiver-steered remote write (IPUSH of [Kitamura06] in docs/REFERENCES.md). Each sender has a
// ring of memory, alone or shared with other senders. One status ring keeps the order in
// which the messages of all senders have arrived. Messages of one sender arrive in the order
// in which they were sent.
//
// Ranks on the same host write into the mailbox without this rank's help. Any number of
// goroutines may use it.
type Mailbox struct {
	p      *Proc
	name   string
	region *rma.Region
	box    *mailbox.Box
	whole  sharedmem.Segment

	rings sync.Mutex // held while rings are changed
	room  mailbox.FreeList

	latch  mem.Latch // of what follows
	reader *mailbox.Reader
	rec    mailbox.Record // the record that take reads
	joiner mailbox.Joiner
	idle   *delivery  // free ones
	auto   *autoRings // or nil
	told   int        // how many ends of ranks have been reported
	inside int        // goroutines that wait; Close waits for them
	asleep int        // those of them that sleep
	closed atomic.Bool
}

// mailboxName returns the name of the region in which a mailbox lies. Regions of programs
// cannot have such names.
func mailboxName(name string) string { return reserved + "mailbox/" + name }

// OpenMailbox makes a mailbox that other ranks reach by its name, of 1 to 200 bytes, with
// AttachMailbox. It does not wait for other ranks.
func (p *Proc) OpenMailbox(name string, cfg *MailboxConfig) (*Mailbox, error) {
	if err := checkMailboxName(name); err != nil {
		return nil, err
	}
	var c MailboxConfig
	if cfg != nil {
		c = *cfg
	}
	auto := p.advised(&c)
	sizes, g, err := p.geometry(&c)
	if err != nil {
		return nil, err
	}
	whole, err := p.memory.Share(g.Size()+8, false)
	if err != nil {
		return nil, err
	}
	m := &Mailbox{p: p, name: name, whole: whole, auto: auto, room: mailbox.NewFreeList(g.Room)}
	bytes := whole.Bytes[:len(whole.Bytes)-8]
	if m.box, err = mailbox.New(bytes, g); err == nil {
		m.reader = mailbox.NewReader(m.box)
		for i := range g.Rings {
			m.box.Shut(i)
		}
		for i, size := range sizes {
			base, _ := m.room.Take(size)
			m.box.Place(i, base, size)
		}
		err = m.fill(c.Table)
	}
	if err == nil {
		m.region, err = p.node.ExposeMailbox(mailboxName(name), m.box, bytes, whole.ID, c.Full == StallWhenFull)
	}
	if err != nil {
		_ = p.memory.Drop(whole)
		return nil, public(err)
	}
	p.mu.Lock()
	closed := p.closed
	p.mailboxes[m] = true
	p.mu.Unlock()
	if closed {
		m.Close()
		return nil, ErrClosed
	}
	return m, nil
}

// advised takes the rings from the job's AMT if the program does not configure any. It returns
// the policy that changes them while the job runs, or nil.
func (p *Proc) advised(c *MailboxConfig) *autoRings {
	switch {
	case p.amt == nil || len(c.Rings) > 0 || c.Table != nil:
		return nil
	case p.amt.Auto:
		for range ownRings + 1 {
			c.Rings = append(c.Rings, defaultRing)
		}
		return newAutoRings()
	case len(p.amt.Rings) > 0:
		c.Rings = p.amt.Rings
		c.Table = p.amt.Table
	}
	return nil
}

func checkMailboxName(name string) error {
	const most = 200
	if len(name) < 1 || len(name) > most {
		return &ConfigError{Field: "length of the mailbox's name", Value: len(name), Min: 1, Max: most}
	}
	return nil
}

// geometry checks a configuration, and returns the sizes of the rings and the layout of the
// memory.
func (p *Proc) geometry(c *MailboxConfig) (sizes []int, g mailbox.Geometry, err error) {
	const most = 1 << 34
	room := 0
	for _, size := range append([]int{}, c.Rings...) {
		if size < 1 || size > most {
			return nil, g, &ConfigError{Field: "size of a ring", Value: size, Min: 1, Max: most}
		}
		sizes = append(sizes, roundGrain(size))
		room += roundGrain(size)
	}
	if len(sizes) == 0 {
		sizes = []int{defaultRing}
		room = defaultRing
	}
	if c.Spare < 0 || c.Spare > most {
		return nil, g, &ConfigError{Field: "MailboxConfig.Spare", Value: c.Spare, Min: 0, Max: most}
	}
	if c.Records == 0 {
		c.Records = defaultRecords
	}
	if c.Records < minRecords || c.Records > mailbox.MaxSlots {
		return nil, g, &ConfigError{Field: "MailboxConfig.Records", Value: c.Records, Min: minRecords, Max: mailbox.MaxSlots}
	}
	slots := minRecords
	for slots < c.Records {
		slots *= 2
	}
	if len(sizes) > mailbox.MaxRings-moreRings {
		return nil, g, &ConfigError{Field: "number of rings", Value: len(sizes), Min: 1, Max: mailbox.MaxRings - moreRings}
	}
	return sizes, mailbox.Geometry{
		Ranks: p.job.Size, Lines: p.job.Local, Rings: len(sizes) + moreRings, Slots: slots, Room: room + roundGrain(c.Spare),
	}, nil
}

func roundGrain(n int) int { return (n + mailbox.Grain - 1) / mailbox.Grain * mailbox.Grain }

// Name returns the mailbox's name.
func (m *Mailbox) Name() string { return m.name }

// MemoryBytes returns how many bytes of memory the rings have, and how many the mailbox has in
// all.
func (m *Mailbox) MemoryBytes() (rings, all int) {
	m.rings.Lock()
	defer m.rings.Unlock()
	return m.box.Room - m.room.Free(), len(m.whole.Bytes)
}

// Next returns the next message in the order of arrival, and waits for it if there is none. The
// message is on loan until Release. Several goroutines that call Next get different messages.
// The death of a rank is reported once, by a WaitError that contains a PeerError, after the
// messages that the rank had sent.
func (m *Mailbox) Next(ctx context.Context) (d Delivery, err error) {
	err = m.next(ctx, &d, true)
	return d, err
}

// NextPacket is Next for single packets. A longer message consists of packets if its ring is
// shared, or if the sender uses StatusPerPacket. NextPacket returns each packet when it
// arrives, and Off and Total tell which part of the message it is. Use either Next or
// NextPacket on a mailbox.
func (m *Mailbox) NextPacket(ctx context.Context) (d Delivery, err error) {
	err = m.next(ctx, &d, false)
	return d, err
}

// TryNext returns the next message if one has arrived, else ErrWouldBlock.
func (m *Mailbox) TryNext() (d Delivery, err error) {
	if err = m.take(&d, true, 0, 0); err == ErrWouldBlock {
		m.p.node.Assist()
		if err = m.take(&d, true, 0, 0); err == ErrWouldBlock {
			m.p.node.Vain()
		}
	}
	return d, err
}

func (m *Mailbox) next(ctx context.Context, d *Delivery, join bool) error {
	err := m.take(d, join, 0, 1)
	for err == ErrWouldBlock {
		began := m.p.timeline.Mark()
		err = m.await(ctx)
		if m.p.timeline != nil {
			m.p.timeline.Note(began, timeline.Mail, 0, timeline.Nobody, 0, err)
		}
		if err != nil {
			m.leave()
			return waited(err, fmt.Sprintf("mailbox %q", m.name), "no message in it is complete")
		}
		err = m.take(d, join, 1, 1)
	}
	return err
}

// await returns when there may be a message.
func (m *Mailbox) await(ctx context.Context) error {
	if !m.p.node.Hosted() {
		ready := func() bool { return m.closed.Load() || m.box.Ready() }
		if ok, err := m.p.node.Spin(ctx, ready); ok || err != nil {
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
	seen := m.p.node.Departures()
	if !m.recover() {
		return m.p.Sleep(ctx, retryRecover)
	}
	if err := m.loss(); err != nil {
		return err
	}
	c := driver.NewCall()
	defer c.Free()
	c.RMA.Kind = rma.Await
	c.RMA.Peer = m.p.job.Rank
	c.RMA.Region = m.region.ID
	return public(m.p.node.AwaitMail(ctx, c, seen))
}

// leave ends a wait without a message.
func (m *Mailbox) leave() {
	m.latch.Lock()
	defer m.latch.Unlock()
	m.inside--
}

// loss returns the death of a rank that has not been reported, or nil. That a rank has left in
// good order is reported only if no other rank is left that could send.
func (m *Mailbox) loss() error {
	for {
		m.latch.Lock()
		told := m.told
		m.latch.Unlock()
		rank, gone := m.p.node.Departed(told)
		if gone == nil || m.box.Ready() { // messages that it had sent come first
			return nil
		}
		m.latch.Lock()
		news := m.told == told // else another goroutine reports it
		if news {
			m.told++
		}
		m.latch.Unlock()
		if news && rank != m.p.job.Rank && (!gone.Clean || told == m.p.job.Size-2) {
			return publicPeer(gone)
		}
	}
}

// doze counts the goroutines that sleep. While there are any, senders send a KNOCK.
func (m *Mailbox) doze(n int) {
	m.latch.Lock()
	defer m.latch.Unlock()
	m.asleep += n
	m.box.Waits(m.asleep > 0)
}

// Close closes the mailbox and gives its memory back. Messages that have not been taken are
// lost. Messages on loan must not be used any more. Senders get ErrClosed.
func (m *Mailbox) Close() error {
	m.latch.Lock()
	closed := m.closed.Swap(true)
	m.latch.Unlock()
	if closed {
		return ErrClosed
	}
	m.p.mu.Lock()
	delete(m.p.mailboxes, m)
	m.p.mu.Unlock()
	mem.Store64(m.whole.Bytes, len(m.whole.Bytes)-8, 1)
	m.p.node.Withdraw(m.region)
	for m.waited() {
		runtime.Gosched() // these goroutines still look at the memory
		m.p.node.Vain()
	}
	return public(m.p.memory.Drop(m.whole))
}

func (m *Mailbox) waited() bool {
	m.latch.Lock()
	defer m.latch.Unlock()
	return m.inside > 0
}
