package link

import (
	"time"

	"weft/internal/counters"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// Config shapes the links of a node. Zero values mean the defaults.
type Config struct {
	Window     int           // packets on their way to one peer, at most; default 256
	Reach      int           // bytes that the window grows to on a long path; default 24 MiB if Window has its default
	RTOInitial time.Duration // until a round trip has been measured; default 20 ms
	RTOMin     time.Duration // default 2 ms
	RTOMax     time.Duration // default 500 ms
	AckDelay   time.Duration // default 200 us
	Liveness   time.Duration // default 3 s; negative: never
	PathRaise  time.Duration // until longer packets are tried again on a path that lost them; default 1 min

	// Selective keeps packets that come out of order, if the peer does so too,
	// so that only missing packets are sent again. (PROTOCOL §2.5)
	Selective bool

	// FixedWindow lets Window packets be on their way whatever the network does: for
	// comparison.
	FixedWindow bool

	FirstSeq     uint32 // number of the first packet, at both ends; 0 but in tests of wrapping
	FirstCounter uint64 // counter before that of the first packet; 0 but in tests of keys that change
}

// WithDefaults returns the configuration with every field set. Links that are given one
// share it.
func (c Config) WithDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	if c.Window <= 0 {
		c.Window = 256
		if c.Reach == 0 {
			c.Reach = 24 << 20
		}
	}
	def(&c.RTOInitial, 20*time.Millisecond)
	def(&c.RTOMin, 2*time.Millisecond)
	def(&c.RTOMax, 500*time.Millisecond)
	def(&c.AckDelay, 200*time.Microsecond)
	def(&c.Liveness, 3*time.Second)
	def(&c.PathRaise, time.Minute)
	return c
}

// A Packet is a header and a payload to send. Both are borrowed.
type Packet struct {
	Header, Payload []byte
	Bulk            bool // others may arrive before it; never of a Conn
	Again           int  // how often it has been sent before
}

// A Conn is the link to one peer over a lossy transport, in both directions.
type Conn struct {
	cfg  *Config // complete
	self *Self
	peer uint32

	auth       protection
	send       sending
	rto        rtoState
	congestion congestion
	recv       receiving
	crowd      place // among the peers that send to this process
	live       liveness
	path       pathMTU

	due  dues   // control packets to send
	sent []sent // what the last Output returned

	counts *counters.Peer // of the peer
}

// dues tells of each kind of control packet whether one is to be sent.
type dues [wire.KindGreet + 1]bool

// sent is a packet that Output returned.
type sent struct {
	kind      wire.Kind
	seq       uint32
	outOfTurn bool
}

// A slot holds one frame until it is acknowledged.
type slot struct {
	front   [wire.LinkSize + wire.MaxHead + maxJoined]byte
	size    int    // bytes of front in use
	payload []byte // borrowed, unless it was short and lies in front
	at      monotime.Time
	sends   int  // transmitted
	flying  bool // it is on its way, as far as is known
	held    bool // the peer keeps it
	missing bool // the peer misses it
	prompt  bool // it asked to be acknowledged at once
}

// bytes returns how long the packet is.
func (s *slot) bytes() int { return s.size + len(s.payload) }

// NewConn returns the link to one incarnation of a peer. It borrows the configuration.
func NewConn(cfg *Config, self *Self, peer uint32, incarnation uint64) *Conn {
	if *cfg != cfg.WithDefaults() {
		full := cfg.WithDefaults()
		cfg = &full
	}
	first := cfg.FirstSeq
	c := &Conn{
		cfg:  cfg,
		self: self,
		peer: peer,
		auth: protection{
			incarnation: incarnation,
			out:         self.sender(peer, incarnation),
			in:          self.receiver(peer, incarnation),
			counter:     cfg.FirstCounter,
		},
		send:       sending{base: first, next: first, high: first, tail: first},
		rto:        rtoState{at: monotime.Never, value: cfg.RTOInitial},
		congestion: newCongestion(cfg),
		recv:       receiving{expected: first, ackAt: monotime.Never, gapAt: monotime.Never},
		live:       liveness{pulse: NewPulse(cfg)},
		path:       newPathMTU(cfg),
		counts:     &self.counts,
	}
	c.auth.out.silence(true)
	c.auth.in.silence(true)
	return c
}

// Guard sets what protects the packets that we send; Tagged until then. A link takes no
// packets with a weaker guard than that of its own.
func (c *Conn) Guard(g Guard) { c.auth.guard = g }

// Missed says that packets of the peer have come before there was a link: it is
// asked to send them again.
func (c *Conn) Missed() { c.due[wire.KindLose] = true }

// Spread says over how many devices the peer spreads its packets. More than one
// let some overtake others: a gap is nothing to tell of until enough have.
// (PROTOCOL §2.5)
func (c *Conn) Spread(devices int) { c.recv.overtake = uint32(overtake * (devices - 1)) }

// overtake is how many packets may overtake one for each further device: what a
// device takes in one batch.
const overtake = 64

// Limit says how long packets to the peer may be, header and all, as far as the transport
// knows. What has a number already keeps its length.
func (c *Conn) Limit(now monotime.Time, mtu int) { c.path.limit(now, mtu) }

// MTU returns how long new packets may be: what Limit says, or less if the path loses
// longer ones. (PROTOCOL §2.6)
func (c *Conn) MTU() int { return c.path.now }

// Room returns how many bytes of a frame fit into a packet.
func (c *Conn) Room() int { return c.path.now - wire.LinkSize }

// less compares sequence numbers, which wrap.
func less(a, b uint32) bool { return int32(a-b) < 0 }

// slot returns the place of a packet that is not acknowledged.
func (c *Conn) slot(seq uint32) *slot { return &c.send.slots[seq&uint32(len(c.send.slots)-1)] }

// Ready reports whether the window has room, so that Queue may be called.
func (c *Conn) Ready(now monotime.Time) bool {
	if c.send.base == c.send.tail && !c.send.more {
		c.congestion.resume()
	}
	return c.send.tail-c.send.base < uint32(c.congestion.packets()) &&
		c.congestion.room(now, c.send.flying+c.send.missing+int(c.send.tail-c.send.next))
}

// More says whether frames wait until Ready reports true.
func (c *Conn) More(more bool) {
	switch {
	case more && !c.send.more:
		c.self.sending++
	case c.send.more && !more:
		c.self.sending--
	}
	c.send.more = more
}

// Roomy reports whether the window has room for packets of long frames. These leave an
// eighth of it to short ones, and have mixedFlight bytes on their way at most while short
// ones go ahead of them. (PROTOCOL §1.1)
func (c *Conn) Roomy(now monotime.Time) bool {
	s := &c.send
	onWay := s.flying + s.missing + int(s.tail-s.next)
	if now.Before(s.mixed) && onWay*c.path.now >= mixedFlight {
		return false
	}
	most := c.congestion.packets()
	return s.tail-s.base < uint32(most-most/8) && c.congestion.roomy(onWay)
}

// Mixed says that a short frame goes ahead of a long one that waits: others will follow.
func (c *Conn) Mixed(now monotime.Time) {
	if !c.cfg.FixedWindow {
		c.send.mixed = now.Add(mixedTime)
	}
}

// Nothing passes a frame once it is numbered. So a short frame waits for the bytes that are on their way before it,
// in a queue of the network, or at a receiver whose processor is busy.
const (
	mixedFlight = 64 << 10              // bytes, a batch: 20 us at 25 Gbit/s
	mixedTime   = 10 * time.Millisecond // since the last short frame that went ahead
)

// Waiting returns how many frames have a number and have never been transmitted.
func (c *Conn) Waiting() int { return int(c.send.tail - c.send.high) }

// Queue gives a frame the next number. Its payload is borrowed until it has
// been acknowledged or detached.
func (c *Conn) Queue(now monotime.Time, head, payload []byte) {
	if int(c.send.tail-c.send.base) == len(c.send.slots) {
		c.grow()
	}
	c.wake()
	s := c.slot(c.send.tail)
	s.sends = 0
	s.flying = false
	s.held = false
	s.missing = false
	s.prompt = false
	s.size = wire.LinkSize + copy(s.front[wire.LinkSize:], head)
	s.payload = payload
	if len(payload) <= maxJoined {
		s.size += copy(s.front[s.size:], payload)
		s.payload = nil
	}
	c.send.tail++
}

// grow doubles the ring of slots.
func (c *Conn) grow() {
	bigger := make([]slot, max(2*len(c.send.slots), fewSlots))
	for i := c.send.base; i != c.send.tail; i++ {
		bigger[i&uint32(len(bigger)-1)] = *c.slot(i)
	}
	c.send.slots = bigger
}

// Detach stops borrowing the array of buf: packets that have not been
// acknowledged get a copy of what they would repeat.
func (c *Conn) Detach(buf []byte) {
	for i := c.send.base; i != c.send.tail; i++ {
		if s := c.slot(i); sameArray(s.payload, buf) {
			s.payload = append([]byte(nil), s.payload...)
		}
	}
}

// Farewell forgets everything that is on its way to a peer that has left, and acknowledges
// what the peer sent last, so that it need not wait. (PROTOCOL §5)
func (c *Conn) Farewell() {
	for ; c.send.base != c.send.tail; c.send.base++ {
		c.slot(c.send.base).payload = nil
	}
	c.send.next = c.send.tail
	c.send.high = c.send.tail
	c.send.missing = 0
	c.send.flying = 0
	c.End()
	c.send.mode = flowing
	c.send.probe = false
	c.due = dues{wire.KindAck: true}
	c.rto.at = monotime.Never
	c.recv.ackAt = monotime.Never
	c.recv.gapAt = monotime.Never
	c.live.pulse.Watch(0, false)
	c.path.end()
}

// End says that nothing goes to the peer any more, nor comes.
func (c *Conn) End() {
	c.More(false)
	c.self.crowd.leave(c)
}

// Stopped reports whether the peer has told us to stop.
func (c *Conn) Stopped() bool { return c.send.mode == stopped }

// Idle reports whether nothing is unacknowledged and nothing is due.
func (c *Conn) Idle() bool {
	return c.send.base == c.send.tail && c.recv.ackAt == monotime.Never && c.due == dues{}
}
