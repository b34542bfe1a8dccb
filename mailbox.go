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

// NoRing is the ring of a sender that has none.
const NoRing = mailbox.NoRing

// MailboxConfig shapes a mailbox. Zero values mean the defaults.
type MailboxConfig struct {
	// Rings are the sizes of the rings in bytes, each rounded up to a multiple of 64.
	// None means what weft run was told with -amt, or else one of 256 KiB for all
	// senders. A message can be as long as its ring.
	Rings []int

	// Table gives senders their rings (the AMT Address Table). Ranks that are not in
	// it have ring 0; NoRing refuses a rank.
	Table map[int]int

	// Records is how many messages, or packets where rings are shared, can wait until
	// they are taken; 0 means 1024. It is rounded up to a power of two, from 16 to 2^24.
	// Messages of up to 40 bytes travel in their record and need nothing else.
	Records int

	// Spare is memory in bytes for rings that are made later, or grow.
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

// A Mailbox is where other ranks put messages whose places this rank chooses: the
// IPUSH of paper 002. Each sender has a ring of memory, alone or with others, and one
// status ring keeps the order in which messages of all have arrived. Messages of one
// sender arrive in the order in which they were sent.
//
// Ranks on the same host write to it without this rank's help. Any number of
// goroutines may use it.
type Mailbox struct {
	p      *Proc
	name   string
	region *rma.Region
	box    *mailbox.Box
	whole  share

	rings sync.Mutex // held while rings are changed
	room  mailbox.FreeList

	latch  mem.Latch // of what follows
	reader *mailbox.Reader
	rec    mailbox.Record // the one that take reads
	joiner mailbox.Joiner
	idle   *delivery  // free ones
	auto   *autoRings // or nil
	told   int        // how many of the departed ranks have been told of
	inside int        // goroutines that wait, for whom Close waits
	asleep int        // of these
	closed atomic.Bool
}

// mailboxName is the name of the region that a mailbox is. Regions of programs cannot
// have such names.
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
	whole, err := p.share(g.Size()+8, false)
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
		m.region, err = p.node.ExposeMailbox(mailboxName(name), m.box, bytes, whole.id, c.Full == StallWhenFull)
	}
	if err != nil {
		p.unshare(whole)
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

// advised takes over what an AMT says, if the program leaves the rings to us. It
// returns what changes them while the job runs, or nil.
func (p *Proc) advised(c *MailboxConfig) *autoRings {
	switch {
	case p.amt == nil || len(c.Rings) > 0 || c.Table != nil:
		return nil
	case p.amt.auto:
		for range ownRings + 1 {
			c.Rings = append(c.Rings, defaultRing)
		}
		return newAutoRings()
	case len(p.amt.rings) > 0:
		c.Rings, c.Table = p.amt.rings, p.amt.table
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

// geometry checks a configuration, and says what memory it needs.
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
		sizes, room = []int{defaultRing}, defaultRing
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

// MemoryBytes returns how much memory the rings have, and how much the mailbox has in
// all.
func (m *Mailbox) MemoryBytes() (rings, all int) {
	m.rings.Lock()
	defer m.rings.Unlock()
	return m.box.Room - m.room.Free(), len(m.whole.Bytes)
}

// Next returns the message that arrived next, waiting for it. It is on loan until
// Release. Several goroutines get different ones. The death of a rank is reported
// once, by a PeerError, after what it had sent.
func (m *Mailbox) Next(ctx context.Context) (d Delivery, err error) {
	err = m.next(ctx, &d, true)
	return d, err
}

// NextPacket is Next for the packets of which longer messages consist where a ring is
// shared, or the sender asks for that: each is returned when it arrives, and says what
// part of its message it is. Use either Next or NextPacket.
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
		began := m.p.mark()
		err = m.await(ctx)
		if m.p.timeline != nil {
			m.p.note(began, timeline.Mail, 0, timeline.Nobody, 0, err)
		}
		if err != nil {
			m.leave()
			return waited(err, fmt.Sprintf("mailbox %q", m.name), "no message in it is complete")
		}
		err = m.take(d, join, 1, 1)
	}
	return err
}

// await returns when there may be something to take.
func (m *Mailbox) await(ctx context.Context) error {
	if !m.p.node.Hosted() {
		ready := func() bool { return m.closed.Load() || m.box.Ready() }
		if ok, err := m.p.node.Spin(ctx, ready); ok || err != nil {
			return err
		}
	}
	m.doze(1)
	defer m.doze(-1)
	// A sender that has written its record before it could see that we sleep: by the
	// time the kernel has been asked to do something, we can see the record.
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
	c.RMA.Kind, c.RMA.Peer, c.RMA.Region = rma.Await, m.p.job.Rank, m.region.ID
	return public(m.p.node.AwaitMail(ctx, c, seen))
}

// leave ends a wait that has come to nothing.
func (m *Mailbox) leave() {
	m.latch.Lock()
	defer m.latch.Unlock()
	m.inside--
}

// loss returns the death of a rank of which nobody has been told, or nil. A clean
// leave is no news, unless nobody is left who could send.
func (m *Mailbox) loss() error {
	for {
		m.latch.Lock()
		told := m.told
		m.latch.Unlock()
		rank, gone := m.p.node.Departed(told)
		if gone == nil || m.box.Ready() { // what it sent just before comes first
			return nil
		}
		m.latch.Lock()
		news := m.told == told // or another goroutine is told
		if news {
			m.told++
		}
		m.latch.Unlock()
		if news && rank != m.p.job.Rank && (!gone.Clean || told == m.p.job.Size-2) {
			return publicPeer(gone)
		}
	}
}

// doze counts who sleeps, so that senders knock.
func (m *Mailbox) doze(n int) {
	m.latch.Lock()
	defer m.latch.Unlock()
	m.asleep += n
	m.box.Waits(m.asleep > 0)
}

// Close ends the mailbox. What has not been taken is lost, and messages on loan must
// not be looked at any more; senders get ErrClosed. The memory is given back.
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
		runtime.Gosched() // they look at the memory
		m.p.node.Vain()
	}
	return m.p.unshare(m.whole)
}

func (m *Mailbox) waited() bool {
	m.latch.Lock()
	defer m.latch.Unlock()
	return m.inside > 0
}
