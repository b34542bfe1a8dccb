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
	RTOInitial time.Duration // until a round trip has been measured; default 20 ms
	RTOMin     time.Duration // default 2 ms
	RTOMax     time.Duration // default 500 ms
	AckDelay   time.Duration // default 200 us
	Liveness   time.Duration // default 3 s; negative: never
	PathRaise  time.Duration // until longer packets are tried again on a path that lost them; default 1 min

	// Selective keeps packets that come out of order, if the peer does so too,
	// so that only those that are missing are sent again. (PROTOCOL §2.5)
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

	// Identity.
	incarnation uint64 // the peer's
	guard       Guard  // of what we send, and the weakest that we take
	out, in     signer
	counter     uint64
	replay      replayWindow

	// Sending: base <= next <= high <= tail, in serial arithmetic.
	knows   bool   // the peer knows SELECT
	again   int    // slots to transmit out of turn
	flying  int    // slots on their way
	unasked int    // packets transmitted since one asked to be acknowledged at once, and not acknowledged
	more    bool   // frames wait that have no number yet
	paced   bool   // a packet waits for its time
	base    uint32 // oldest packet not acknowledged
	next    uint32 // next packet to transmit
	high    uint32 // next packet that has never been transmitted
	tail    uint32 // number of the next frame
	slots   []slot
	stopped bool
	asking  bool // after a timeout, until the peer has answered what was sent then: selective repeat
	heard   bool // and it has said since that something has arrived
	probe   bool // transmit packet base although stopped or asking
	rtoAt   monotime.Time
	rto     time.Duration
	backoff int           // doublings of rto since an acknowledgement was news
	srtt    time.Duration // 0 until measured
	rttvar  time.Duration

	congestion congestion

	// Receiving.
	expected uint32
	loseSent bool
	stopSent bool
	overtake uint32 // packets that may come before one that is on its way: a trunk
	unacked  int
	ackAt    monotime.Time
	came     monotime.Time // since when packet expected-1 may have been here
	crowd    place
	kept     kept

	busy       bool // a frame has been sent or has come since a sign of life was asked for
	pulse      Pulse
	path       pathMTU
	assemblies []assembly // of packets that come in parts; nil until the first

	due   dues   // control packets to send
	sent  []sent // what the last Output returned
	stats Stats

	counts *counters.Peer // of the peer
}

// dues tells of each kind of control packet whether one is to be sent.
type dues [wire.KindSelect + 1]bool

// sent is a packet that Output returned.
type sent struct {
	kind  wire.Kind
	seq   uint32
	again bool // out of turn
}

// A slot holds one frame until it is acknowledged.
type slot struct {
	front   [wire.LinkSize + wire.MaxHead + maxJoined]byte
	size    int    // bytes of front in use
	payload []byte // borrowed, unless it was short and lies in front
	at      monotime.Time
	times   int  // transmitted
	flying  bool // it is on its way, as far as is known
	held    bool // the peer keeps it
	again   bool // the peer misses it
	prompt  bool // it asked to be acknowledged at once
}

// bytes returns how long the packet is.
func (s *slot) bytes() int { return s.size + len(s.payload) }

// Stats counts what a link has seen.
type Stats struct {
	Sent, Resent uint64 // data packets
	Timeouts     uint64
	Losses       uint64 // LOSE sent
	Stops        uint64 // STOP sent
	Repeats      uint64 // data packets received again
	Shortened    uint64 // times that packets were cut shorter, as the path lost long ones
	RTT          time.Duration
}

// Add adds another link's counts; RTT becomes the larger.
func (s *Stats) Add(o Stats) {
	s.Sent += o.Sent
	s.Resent += o.Resent
	s.Timeouts += o.Timeouts
	s.Losses += o.Losses
	s.Stops += o.Stops
	s.Repeats += o.Repeats
	s.Shortened += o.Shortened
	s.RTT = max(s.RTT, o.RTT)
}

// NewConn returns the link to one incarnation of a peer. It borrows the configuration.
func NewConn(cfg *Config, self *Self, peer uint32, incarnation uint64) *Conn {
	if *cfg != cfg.WithDefaults() {
		full := cfg.WithDefaults()
		cfg = &full
	}
	c := &Conn{
		cfg: cfg, self: self, peer: peer, incarnation: incarnation,
		out: self.sender(peer, incarnation), in: self.receiver(peer, incarnation),
		counter: cfg.FirstCounter,
		rtoAt:   monotime.Never, ackAt: monotime.Never,
	}
	c.counts = &self.counts
	c.out.silence(true)
	c.in.silence(true)
	c.rto, c.pulse, c.path = c.cfg.RTOInitial, NewPulse(c.cfg), newPathMTU(c.cfg)
	c.congestion = newCongestion(c.cfg)
	s := cfg.FirstSeq
	c.base, c.next, c.high, c.tail, c.expected = s, s, s, s, s
	return c
}

// Guard sets what protects the packets that we send; Tagged until then. A link takes no
// packets with a weaker guard than that of its own.
func (c *Conn) Guard(g Guard) { c.guard = g }

// Missed says that packets of the peer have come before there was a link: it is
// asked to send them again.
func (c *Conn) Missed() { c.due[wire.KindLose] = true }

// Spread says over how many devices the peer spreads its packets. More than one
// let some overtake others: a gap is nothing to tell of until enough have.
// (PROTOCOL §2.5)
func (c *Conn) Spread(devices int) { c.overtake = uint32(overtake * (devices - 1)) }

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

func less(a, b uint32) bool { return int32(a-b) < 0 }

func (c *Conn) slot(seq uint32) *slot { return &c.slots[seq&uint32(len(c.slots)-1)] }

// Ready reports whether the window has room, so that Queue may be called.
func (c *Conn) Ready(now monotime.Time) bool {
	if c.base == c.tail && !c.more {
		c.congestion.resume()
	}
	return c.tail-c.base < uint32(c.cfg.Window) && c.congestion.room(now, c.flying+c.again+int(c.tail-c.next))
}

// More says whether frames wait until Ready reports true.
func (c *Conn) More(more bool) {
	switch {
	case more && !c.more:
		c.self.sending++
	case c.more && !more:
		c.self.sending--
	}
	c.more = more
}

// Roomy reports whether the window has room for packets of long frames, which leave an
// eighth of it to short ones.
func (c *Conn) Roomy(now monotime.Time) bool {
	return c.tail-c.base < uint32(c.cfg.Window-c.cfg.Window/8) && c.congestion.roomy(c.flying+c.again+int(c.tail-c.next))
}

// Waiting returns how many frames have a number and have never been transmitted.
func (c *Conn) Waiting() int { return int(c.tail - c.high) }

// Queue gives a frame the next number. Its payload is borrowed until it has
// been acknowledged or detached.
func (c *Conn) Queue(now monotime.Time, head, payload []byte) {
	if int(c.tail-c.base) == len(c.slots) {
		c.grow()
	}
	c.wake()
	s := c.slot(c.tail)
	s.times, s.flying, s.held, s.again, s.prompt = 0, false, false, false, false
	s.size = wire.LinkSize + copy(s.front[wire.LinkSize:], head)
	s.payload = payload
	if len(payload) <= maxJoined {
		s.size += copy(s.front[s.size:], payload)
		s.payload = nil
	}
	c.tail++
}

func (c *Conn) grow() {
	bigger := make([]slot, max(2*len(c.slots), fewSlots))
	for i := c.base; i != c.tail; i++ {
		bigger[i&uint32(len(bigger)-1)] = *c.slot(i)
	}
	c.slots = bigger
}

// Detach stops borrowing the array of buf: packets that have not been
// acknowledged get a copy of what they would repeat.
func (c *Conn) Detach(buf []byte) {
	for i := c.base; i != c.tail; i++ {
		if s := c.slot(i); sameArray(s.payload, buf) {
			s.payload = append([]byte(nil), s.payload...)
		}
	}
}

// Farewell forgets everything that the peer, who has left, will not receive, and
// acknowledges what it said last, so that it need not wait.
func (c *Conn) Farewell() {
	for ; c.base != c.tail; c.base++ {
		c.slot(c.base).payload = nil
	}
	c.next, c.high, c.again, c.flying = c.tail, c.tail, 0, 0
	c.End()
	c.stopped, c.asking, c.probe = false, false, false
	c.due = dues{wire.KindAck: true}
	c.rtoAt, c.ackAt = monotime.Never, monotime.Never
	c.pulse.Watch(0, false)
	c.path.end()
}

// End says that nothing goes to the peer any more, nor comes.
func (c *Conn) End() {
	c.More(false)
	c.self.crowd.leave(c)
}

// Stopped reports whether the peer has told us to stop.
func (c *Conn) Stopped() bool { return c.stopped }

// Idle reports whether nothing is unacknowledged and nothing is due.
func (c *Conn) Idle() bool {
	return c.base == c.tail && c.ackAt == monotime.Never && c.due == dues{}
}

// Stats returns the counts so far.
func (c *Conn) Stats() Stats {
	s := c.stats
	s.RTT = c.srtt
	return s
}
