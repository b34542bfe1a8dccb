package weft

import (
	"context"
	"fmt"

	"weft/failure"
	"weft/internal/inbox"
	"weft/internal/mailbox"
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

	// Spare is memory, in bytes, for rings that are made later (NewRing).
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
	p    *Proc
	name string
	in   *inbox.Inbox
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
	p.advised(&c)
	sizes, g, err := p.geometry(&c)
	if err != nil {
		return nil, err
	}
	for rank := range c.Table {
		if err := p.check(rank); err != nil {
			return nil, err
		}
	}
	in, err := inbox.Open(p.inboxes, inbox.Config{
		Name: mailboxName(name), Geometry: g, Sizes: sizes, Table: c.Table, Stall: c.Full == StallWhenFull,
	})
	if err != nil {
		return nil, err
	}
	m := &Mailbox{p: p, name: name, in: in}
	p.open.Lock()
	closed := p.open.closed
	p.open.mailboxes[m] = true
	p.open.Unlock()
	if closed {
		m.Close()
		return nil, ErrClosed
	}
	return m, nil
}

// advised takes the rings from the job's AMT if the program does not configure any.
func (p *Proc) advised(c *MailboxConfig) {
	if a := p.member.AMT; a != nil && len(a.Rings) > 0 && len(c.Rings) == 0 && c.Table == nil {
		c.Rings = a.Rings
		c.Table = a.Table
	}
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
		sizes = append(sizes, mailbox.RoundUp(size))
		room += mailbox.RoundUp(size)
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
		Ranks: p.job.Size, Lines: p.job.Local, Rings: len(sizes) + moreRings, Slots: slots,
		Room: room + mailbox.RoundUp(c.Spare),
	}, nil
}

// Name returns the mailbox's name.
func (m *Mailbox) Name() string { return m.name }

// MemoryBytes returns how many bytes of memory the rings have, and how many the mailbox has in
// all.
func (m *Mailbox) MemoryBytes() (rings, all int) { return m.in.Bytes() }

// Next returns the next message in the order of arrival, and waits for it if there is none. The
// message is on loan until Release. Several goroutines that call Next get different messages.
// The death of a rank is reported once, by a WaitError that contains a PeerError, after the
// messages that the rank had sent.
func (m *Mailbox) Next(ctx context.Context) (Delivery, error) { return m.next(ctx, true) }

// NextPacket is Next for single packets. A longer message consists of packets if its ring is
// shared, or if the sender uses StatusPerPacket. NextPacket returns each packet when it
// arrives, and Off and Total tell which part of the message it is. Use either Next or
// NextPacket on a mailbox.
func (m *Mailbox) NextPacket(ctx context.Context) (Delivery, error) { return m.next(ctx, false) }

func (m *Mailbox) next(ctx context.Context, join bool) (Delivery, error) {
	var d inbox.Delivery
	if err := m.in.Next(ctx, &d, join); err != nil {
		return Delivery{}, failure.Waited(err, fmt.Sprintf("mailbox %q", m.name), "no message in it is complete")
	}
	return lent(&d), nil
}

// TryNext returns the next message if one has arrived, else ErrWouldBlock.
func (m *Mailbox) TryNext() (Delivery, error) {
	var d inbox.Delivery
	switch ok, err := m.in.TryNext(&d); {
	case err != nil:
		return Delivery{}, err
	case !ok:
		return Delivery{}, ErrWouldBlock
	}
	return lent(&d), nil
}

// Close closes the mailbox and gives its memory back. Messages that have not been taken are
// lost. Messages on loan must not be used any more. Senders get ErrClosed.
func (m *Mailbox) Close() error {
	m.p.open.Lock()
	delete(m.p.open.mailboxes, m)
	m.p.open.Unlock()
	return m.in.Close()
}

// A Delivery is a message in a mailbox, or a packet of one. Its Data belongs to weft, and is on
// loan until Release.
type Delivery struct {
	From int
	Tag  uint64 // the number that PushTagged was given, or 0
	Data []byte // lies in the ring, or is a copy if the message was joined or wraps around the ring's end

	// Off and Total tell which part of its message a packet is, in bytes. For a whole message
	// they are 0 and its length.
	Off, Total int

	loan inbox.Loan
}

func lent(d *inbox.Delivery) Delivery {
	return Delivery{From: d.From, Tag: d.Tag, Data: d.Data, Off: d.Off, Total: d.Total, loan: d.Loan}
}

// Release gives the message's room in its ring back. Messages can be released in any order. Data
// must not be used any more. Releasing a Delivery again does nothing.
func (d *Delivery) Release() {
	d.Data = nil
	d.loan.Release()
}

// Room returns how many bytes of its ring the message occupies until Release: 0 if it lies in its
// record, or was joined.
func (d *Delivery) Room() int { return d.loan.Room() }
