package counters

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"weft/internal/mem"
)

// TestLayout: readers of another build find every field where docs/COUNTERS.md says.
func TestLayout(t *testing.T) {
	node := unsafe.Sizeof(Node{})
	peer := unsafe.Sizeof(Peer{})
	if node != NodeSize || peer != PeerSize {
		t.Errorf("a Node has %d bytes, and a Peer %d", node, peer)
	}
	for _, c := range []struct {
		name      string
		have, say uintptr
	}{
		{"rank", unsafe.Offsetof(Node{}.rank), 16},
		{"pid", unsafe.Offsetof(Node{}.pid), 24},
		{"job", unsafe.Offsetof(Node{}.job), 40},
		{"Dropped", unsafe.Offsetof(Node{}.Dropped), 256},
		{"Memory", unsafe.Offsetof(Node{}.Memory), 312},
		{"Transports", unsafe.Offsetof(Node{}.Transports), 512},
		{"Waits", unsafe.Offsetof(Node{}.Waits), 1024},
		{"waiting", unsafe.Offsetof(Node{}.waiting), 1536},
		{"errors", unsafe.Offsetof(Node{}.errors), 2048},
		{"Sent", unsafe.Offsetof(Peer{}.Sent), 64},
		{"Received", unsafe.Offsetof(Peer{}.Received), 128},
		{"SentLong", unsafe.Offsetof(Peer{}.SentLong), 208},
		{"Read", unsafe.Offsetof(Peer{}.Read), 232},
		{"RoundTrips", unsafe.Offsetof(Peer{}.RoundTrips), 256},
		{"a transport", unsafe.Sizeof(Transport{}), 128},
		{"a wait", unsafe.Sizeof(Wait{}), 32},
		{"a waiting", unsafe.Sizeof(waiting{}), 64},
		{"a fault", unsafe.Sizeof(fault{}), 128},
	} {
		if c.have != c.say {
			t.Errorf("%s: %d, not %d", c.name, c.have, c.say)
		}
	}
}

// page returns a page of rank 3 of 10 that has room for so many peers, and its memory.
func page(room int) (p *Page, memory []byte) {
	memory = mem.Aligned(NodeSize + room*PeerSize)
	end := NodeSize
	return Over(memory[:NodeSize], Identity{Rank: 3, Size: 10, PID: 77, Started: 5e9, Job: "j", Host: "h",
		Program: "p\x1b[2J"}, func() []byte {
		if end == len(memory) {
			return nil
		}
		end += 2 * PeerSize
		return memory[end-2*PeerSize : end]
	}), memory
}

// TestPage: what is written is read.
func TestPage(t *testing.T) {
	p, memory := page(4)
	p.Node.Transports[0].Name("udp")
	p.Node.Transports[0].Joined = 9
	p.Node.Memory = 1000
	p.Node.Dropped.Forged = 2
	p.Node.Waits[Receive] = Wait{Count: 5, Slept: 1, Polled: 100, Asleep: 7}
	p.Node.Waits[Barrier] = Wait{Count: 1, Polled: 2}
	p.Node.Waits[HostBarrier] = Wait{Count: 3, Slept: 4}
	for _, rank := range []int{7, 0} {
		b := p.Peer(rank)
		b.State = Connected
		b.Transport = 1
		b.RTT = 2500
		b.Sent.Messages = uint64(rank) + 1
		b.Received.Bytes = 100
		b.SentLong = 1000
		b.ReceivedLong = 20
		b.Wrote(1)
		b.Got(3)
		b.Measured(2500)
		if p.Peer(rank) != b {
			t.Error("a peer has two blocks")
		}
	}
	s, err := Parse(memory)
	if err != nil {
		t.Fatal(err)
	}
	if s.Rank != 3 || s.Size != 10 || s.PID != 77 || s.Job != "j" || s.Host != "h" || s.Program != "p�[2J" ||
		!s.Started.Equal(time.Unix(5, 0)) || s.Memory != 1000 || s.Dropped.Sum() != 2 {
		t.Errorf("%+v", s)
	}
	if want := []WaitCounts{{"receive", Wait{5, 1, 100, 7}}, {"barrier", Wait{4, 4, 2, 0}}}; !slices.Equal(s.Waits, want) {
		t.Errorf("waits %+v", s.Waits)
	}
	if len(s.Transports) != 1 || s.Transports[0].Name != "udp" || s.Transports[0].Joined != 9 {
		t.Errorf("transports %+v", s.Transports)
	}
	want := []PeerCounts{
		{Rank: 0, Transport: "udp", State: "connected", RTT: 2500, Sent: Flow{Messages: 1}, Received: Flow{Bytes: 100},
			RTTTotal: 2500, SentDirect: 1001, GotDirect: 23, RoundTrips: []Class{{4096, 1}}},
		{Rank: 7, Transport: "udp", State: "connected", RTT: 2500, Sent: Flow{Messages: 8}, Received: Flow{Bytes: 100},
			RTTTotal: 2500, SentDirect: 1001, GotDirect: 23, RoundTrips: []Class{{4096, 1}}},
	}
	if !reflect.DeepEqual(s.Peers, want) || s.Sent.Messages != 9 || s.Received.Bytes != 200 || s.SentDirect != 2002 ||
		s.GotDirect != 46 {
		t.Errorf("peers %+v, in all %+v and %+v", s.Peers, s.Sent, s.Received)
	}
}

// TestNoRoom: peers for which there is no room share a block, and count in the sum.
func TestNoRoom(t *testing.T) {
	for _, room := range []int{0, 2} {
		p, _ := page(room)
		for rank := range 10 {
			p.Peer(rank).Sent.Packets++
			p.Peer(rank).Shortened++
		}
		p.Peer(10).Received.Packets++ // there is no such rank
		p.Peer(-1).Received.Packets++
		sent, received, shortened := p.Sum()
		if sent.Packets != 10 || received.Packets != 2 || shortened != 10 ||
			(p.Peer(0) == p.Peer(1)) != (room == 0) || p.Peer(8) != p.Peer(9) {
			t.Errorf("room for %d: %+v, %+v", room, sent, received)
		}
	}
	if p := New(); p.Peer(1) != p.Peer(2) {
		t.Error("a page that nobody reads has blocks")
	}
}

// TestWaiting: goroutines that sleep are shown until they have been woken; those for which there
// is no room are counted only.
func TestWaiting(t *testing.T) {
	p, memory := page(0)
	var places []int
	for i := range MaxWaiting + 2 {
		places = append(places, p.Node.Begin(Lock, i-1, 3e9, 4, strings.Repeat("name", 10)))
	}
	s, err := Parse(memory)
	if err != nil || len(s.Waiting) != MaxWaiting || s.Parked != MaxWaiting+2 {
		t.Fatalf("%+v, %v", s, err)
	}
	want := Waiting{Operation: "lock", Peer: -1, Since: time.Unix(3, 0), Phase: 4, Name: strings.Repeat("name", 8)}
	if s.Waiting[0] != want {
		t.Errorf("%+v", s.Waiting[0])
	}
	for _, at := range places[1:] {
		p.Node.End(at)
	}
	if s, _ = Parse(memory); len(s.Waiting) != 1 || s.Waiting[0] != want || s.Parked != 1 {
		t.Errorf("%+v", s)
	}
	before := slices.Clone(memory)
	p.Node.End(places[0])
	p.Node.Begin(Send, 1, 3e9, 0, "")
	if s, _ = Parse(Whole(before, memory)); len(s.Waiting) != 0 {
		t.Errorf("it changed while it was read: %+v", s.Waiting)
	}
	if s, _ = Parse(Whole(memory, memory)); len(s.Waiting) != 1 || s.Waiting[0].Operation != "send" {
		t.Errorf("%+v", s.Waiting)
	}
}

// TestErrors: the same error is one entry with its count and times; where there is no room the last
// takes the rest.
func TestErrors(t *testing.T) {
	p, memory := page(0)
	p.Node.Fail(1e9, 2, "it is gone", 1)
	p.Node.Fail(2e9, 3, "it is gone", 1)
	p.Node.Fail(3e9, 2, "it is gone", 4)
	s, _ := Parse(memory)
	want := []Error{
		{Text: "it is gone", Peer: 2, Count: 5, First: time.Unix(1, 0), Last: time.Unix(3, 0)},
		{Text: "it is gone", Peer: 3, Count: 1, First: time.Unix(2, 0), Last: time.Unix(2, 0)},
	}
	if !slices.Equal(s.Errors, want) {
		t.Errorf("%+v", s.Errors)
	}
	for i := range 100 {
		p.Node.Fail(4e9, i, strings.Repeat("long\x00", 100), 1)
	}
	s, _ = Parse(memory)
	if last := s.Errors[len(s.Errors)-1]; len(s.Errors) != MaxErrors || last.Text != "others" || last.Peer != -1 ||
		last.Count != 100-(MaxErrors-3) {
		t.Errorf("%d entries, the last: %+v", len(s.Errors), last)
	}
}

// TestHistogram: classes have no gaps, and a time is in the class that it is said to be in.
func TestHistogram(t *testing.T) {
	last := len(Histogram{}) - 1
	for c := range last {
		if b := Below(c); class(b-1) != c || class(b) != c+1 {
			t.Errorf("class %d is said to end below %d ns: %d ns is in %d, and %d in %d", c, b, b-1, class(b-1), b, class(b))
		}
	}
	if Below(last) != 0 || class(1<<62) != last || class(-1) != 0 {
		t.Error("the ends are not right")
	}
}

// TestForeign: what is no page is refused.
func TestForeign(t *testing.T) {
	p, memory := page(2)
	if _, err := Parse(memory[:NodeSize-1]); !errors.Is(err, ErrForeign) {
		t.Error(err)
	}
	p.Node.rank = 10
	if _, err := Parse(memory); !errors.Is(err, ErrForeign) {
		t.Error(err)
	}
	p.Node.rank = 3
	p.Node.version = Version + 1
	if _, err := Parse(memory); !errors.Is(err, ErrForeign) {
		t.Error(err)
	}
}

// TestNoAllocation: counting allocates nothing.
func TestNoAllocation(t *testing.T) {
	p, _ := page(2)
	p.Peer(1)
	if n := testing.AllocsPerRun(100, func() {
		b := p.Peer(1)
		b.Sent.Messages++
		b.RoundTrips.Add(5000)
		p.Node.End(p.Node.Begin(Barrier, -1, 1, 2, "name"))
		p.Node.Fail(1, 1, "error", 1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParse: whatever a page says, a reader gets bounded counts and texts that can be printed.
func FuzzParse(f *testing.F) {
	p, memory := page(4)
	for i := range 4 {
		p.Peer(i).RoundTrips.Add(int64(i) << 12)
	}
	p.Node.Begin(Receive, 2, 1, 0, "x")
	p.Node.Fail(1, 1, "error", 1)
	p.Node.Transports[0].Name("shm")
	f.Add(memory, 0, []byte{})
	for _, at := range []int{8, 16, 20, 512, 1536, 1544, 2048, 2080, NodeSize, NodeSize + 8} {
		f.Add(memory, at, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	}
	f.Fuzz(func(t *testing.T, b []byte, at int, change []byte) {
		b = slices.Clone(b)
		if at >= 0 && at < len(b) {
			copy(b[at:], change)
		}
		s, err := Parse(Whole(b, b))
		if err != nil {
			return
		}
		if len(s.Peers) > len(b)/PeerSize || len(s.Waiting) > MaxWaiting || len(s.Errors) > MaxErrors ||
			len(s.Transports) > MaxTransports {
			t.Errorf("%+v", s)
		}
		for i, c := range s.Peers {
			if c.Rank < 0 || c.Rank >= s.Size || i > 0 && s.Peers[i-1].Rank >= c.Rank {
				t.Errorf("peer %d of %d", c.Rank, s.Size)
			}
		}
		texts := []string{s.Job, s.Host, s.Program}
		for _, w := range s.Waiting {
			texts = append(texts, w.Name, w.Operation)
		}
		for _, e := range s.Errors {
			texts = append(texts, e.Text)
		}
		for _, text := range texts {
			if text != Printable(text) {
				t.Errorf("%q", text)
			}
		}
		s.Clean()
		s.Shorten(2)
	})
}

// TestSumsTakeAll: each field of what is summed up counts.
func TestSumsTakeAll(t *testing.T) {
	fill := func(v any) (sum uint64) {
		s := reflect.ValueOf(v).Elem()
		for i := range s.NumField() {
			s.Field(i).SetUint(1 << i)
			sum += 1 << i
		}
		return sum
	}
	var d Dropped
	if want := fill(&d); d.Sum() != want {
		t.Errorf("%+v: %d, and not %d", d, d.Sum(), want)
	}
	var f Flow
	fill(&f)
	twice := f
	twice.Add(&f)
	var w Wait
	fill(&w)
	both := w
	both.add(w)
	for _, sum := range [][2]reflect.Value{
		{reflect.ValueOf(f), reflect.ValueOf(twice)}, {reflect.ValueOf(w), reflect.ValueOf(both)},
	} {
		for i := range sum[0].NumField() {
			if sum[1].Field(i).Uint() != 2*sum[0].Field(i).Uint() {
				t.Errorf("%+v and the same: %+v", sum[0], sum[1])
			}
		}
	}
}
