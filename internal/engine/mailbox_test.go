package engine

import (
	"fmt"
	"strconv"
	"strings"

	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
	"weft/internal/mem"
)

// A testMailbox is the mailbox of a rank of a scenario, and what was taken from it.
type testMailbox struct {
	box    *mailbox.Box
	reader *mailbox.Reader
	region *rma.Region
	held   []mailbox.Record
}

// newMailbox makes a mailbox. Senders that the table does not name have ring 0.
func (s *scenario) newMailbox(rank int) {
	g := mailbox.Geometry{Ranks: len(s.engines), Lines: 1, Slots: s.number("records", 16)}
	sizes := s.list("rings", "256")
	for _, size := range sizes {
		g.Rings++
		g.Room += size
	}
	bytes := mem.Aligned(g.Size())
	box, err := mailbox.New(bytes, g)
	if err != nil {
		s.t.Fatal(err)
	}
	base := 0
	for i, size := range sizes {
		box.Shut(i)
		box.Place(i, base, size)
		base += size
	}
	table := s.list("table", "0")
	for from := range s.engines {
		ring := table[0]
		if from < len(table) {
			ring = table[from]
		}
		box.SetRing(from, ring)
	}
	region, err := s.engines[rank].RMA.ExposeMailbox(s.name(), box, bytes, 0, s.d.HasArg("stall"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.boxes[rank] = &testMailbox{box: box, reader: mailbox.NewReader(box), region: region}
}

// list returns numbers with commas between them.
func (s *scenario) list(name, def string) (list []int) {
	s.d.MaybeScanArgs(s.t, name, &def)
	for _, part := range strings.Split(def, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

// ipush begins a message that says its tag, over and over.
func (s *scenario) ipush(rank int) {
	to := s.number("to", 1)
	f := s.found[[2]int{rank, to}]
	tag := s.number("tag", 1)
	op := &rma.Op{
		Kind: rma.IPush, Peer: to, Region: f.Region, Key: f.Key, A: uint64(tag),
		Entry: uint16(s.number("entry", wire.NoEntry)),
		Buf:   make([]byte, s.number("size", 8)),
	}
	if s.d.HasArg("key") {
		op.Key++
	}
	for i := range op.Buf {
		op.Buf[i] = byte(tag)
	}
	var mode string
	s.d.MaybeScanArgs(s.t, "status", &mode)
	op.Mode = uint8(map[string]mailbox.Mode{"message": mailbox.PerMessage, "packet": mailbox.PerPacket}[mode])
	s.pushed[rank] = append(s.pushed[rank], op)
	if s.engines[rank].RMA.Start(op); op.Done {
		s.done(rank, op)
	}
}

// cancel gives up what a rank has begun first of what has not ended.
func (s *scenario) cancel(rank int) {
	for i, op := range s.pushed[rank] {
		if !op.Done {
			_, begun := s.engines[rank].RMA.Cancel(op)
			s.engines[rank].Detach(op.Buf)
			s.pushed[rank] = s.pushed[rank][i+1:]
			s.say("  rank %d has given up the %v, which may have begun: %v", rank, op, begun)
			return
		}
	}
}

// mailbox runs a command on the mailbox of a rank.
func (s *scenario) mailbox(rank int) {
	e := s.engines[rank]
	b := s.boxes[rank]
	switch s.d.Cmd {
	case "take":
		var rec mailbox.Record
		if !b.reader.Take(&rec) {
			s.say("  nothing has arrived at rank %d", rank)
			break
		}
		s.say("  rank %d has %s", rank, b.tell(&rec))
		b.reader.Done()
		if !rec.InRecord {
			b.held = append(b.held, rec)
		}
	case "free":
		i := s.number("i", 0)
		b.reader.Release(b.held[i].Extent)
		b.held = append(b.held[:i], b.held[i+1:]...)
	case "table":
		b.box.SetRing(s.number("of", 0), s.number("ring", 0))
		e.Room(s.now, b.region)
	case "reserved":
		promises, used := b.box.Reserved()
		s.say("  %d records, bytes by ring %v", promises, used)
	case "knock":
		e.RMA.Knock(s.number("to", 1), s.found[[2]int{rank, s.number("to", 1)}].Region)
	case "await":
		op := &rma.Op{Kind: rma.Await, Peer: rank, Region: b.region.ID}
		if e.RMA.Start(op); op.Done {
			s.done(rank, op)
		}
	case "withdraw":
		e.RMA.Withdraw(b.region)
		e.Detach(b.region.Bytes)
		e.Room(s.now, b.region)
	}
	if b != nil && b.box.Wanted() {
		e.Room(s.now, b.region)
	}
}

// tell says what a record tells of.
func (b *testMailbox) tell(rec *mailbox.Record) string {
	first, second := b.reader.Bytes(rec)
	for _, part := range [][]byte{first, second} {
		for _, c := range part {
			if uint64(c) != rec.Tag {
				return fmt.Sprintf("message %d of rank %d, in which is a byte of %d", rec.Tag, rec.From, c)
			}
		}
	}
	where := fmt.Sprintf("in ring %d", rec.Ring)
	if rec.InRecord {
		where = "in its record"
	}
	if rec.Off == 0 && rec.Last {
		return fmt.Sprintf("message %d of rank %d: %d bytes %s", rec.Tag, rec.From, rec.Len, where)
	}
	return fmt.Sprintf("of message %d of rank %d: bytes %d to %d of %d %s", rec.Tag, rec.From, rec.Off, rec.Off+rec.Len,
		rec.Total, where)
}
