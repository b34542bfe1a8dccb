package link

import (
	"time"

	"weft/internal/monotime"
)

// A pathMTU is how long packets to a peer may be. The transport says how long they may be at
// most. A path may lose the longest of them without a message from a router. The link finds
// that out when long packets are not acknowledged, and searches for the longest that arrives
// with padded probes. (PROTOCOL §2.6, [RFC 8899])
type pathMTU struct {
	most   int           // bytes of a packet, as the transport says
	now    int           // as we believe: what packets are cut to
	late   int           // bytes of the shortest long packet that was not acknowledged in time, though sent twice
	lost   int           // long packets since that have arrived only in parts
	raise  time.Duration // between two looks at whether the path has become wider, at most
	wait   time.Duration // until the next look: doubles from firstRaise to raise
	search search
	answer uint32 // the length of a probe of the peer that is to be acknowledged, or 0
}

// A search finds the longest packet that arrives, between a length that arrives and a length that does not.
type search struct {
	low, high int           // low arrives; high does not, or is most+1
	probe     int           // the length that is being tried; 0: none is
	tries     int           // of it so far
	longest   int           // probe that has been sent
	due       bool          // the probe is to be sent
	at        monotime.Time // when the probe is lost, or the next search begins; Never: there is none
}

const (
	smallest   = 1232 // every IPv6 path takes packets of this length
	mostTries  = 3    // of one probe
	fineEnough = 16   // bytes between low and high
	mostLost   = 4
	firstRaise = time.Second // a busy receiver loses probes, too: a search that they have misled is soon mended
)

// newPathMTU returns the state of a path whose length limit is not known yet.
func newPathMTU(cfg *Config) pathMTU {
	return pathMTU{raise: cfg.PathRaise, search: search{at: monotime.Never}}
}

// floor is the length that is believed to arrive always.
func (p *pathMTU) floor() int { return min(smallest, p.most) }

// limit is told how long packets may be at most, as far as the transport knows.
func (p *pathMTU) limit(now monotime.Time, most int) {
	believed := p.now == p.most
	p.most = most
	switch {
	case believed || most <= p.now:
		p.now = most
		p.late = 0
		p.lost = 0
		p.search = search{at: monotime.Never}
	default: // the path may have become wider
		p.begin(now)
	}
}

// timeout is told that a packet of so many bytes has not been acknowledged in time for the
// second time, though it was sent so often.
func (p *pathMTU) timeout(size, times int) {
	if times >= whole && size > p.floor() && size <= p.now && (p.late == 0 || size < p.late) {
		p.late = size
	}
}

// whole is how often a long packet is sent as it is before it leaves in parts, once one has
// not been acknowledged in time.
const whole = 2

// takes reports whether a packet leaves as it is, after so many times.
func (p *pathMTU) takes(size, times int) bool {
	return size <= p.floor() || size <= p.now && (times < whole || p.late == 0) || p.most == 0
}

// arrived is told that a packet of so many bytes has been acknowledged, which was sent so
// often. It reports whether packets are cut shorter from now on, since several long ones
// have arrived only in parts, and none before.
func (p *pathMTU) arrived(now monotime.Time, size, times int) bool {
	switch {
	case size <= p.floor():
		return false
	case times <= whole:
		if size >= p.late { // a shorter packet proves nothing of the late ones
			p.late = 0
			p.lost = 0
		}
		return false
	case size > p.now:
		return false // that is known
	}
	if p.lost++; p.lost < mostLost {
		return false
	}
	p.late = 0
	p.lost = 0
	p.now = p.floor()
	p.begin(now)
	return true
}

// begin begins a search above what is believed to arrive.
func (p *pathMTU) begin(now monotime.Time) {
	p.search = search{low: p.now, high: p.most + 1}
	p.wait = min(firstRaise, p.raise)
	p.next(now)
}

// next tries the next length, or ends the search for a while.
func (p *pathMTU) next(now monotime.Time) {
	s := &p.search
	s.probe = 0
	s.tries = 0
	s.due = false
	s.at = monotime.Never
	switch {
	case s.low >= p.most:
		return
	case s.high > p.most:
		s.probe = p.most
	case s.high-s.low > fineEnough:
		s.probe = (s.low + s.high) / 2
	default:
		s.at = now.Add(p.wait)
		p.wait = min(2*p.wait, p.raise)
		return
	}
	s.due = true
}

// advance does what is due.
func (p *pathMTU) advance(now monotime.Time) {
	s := &p.search
	switch {
	case now.Before(s.at):
		return
	case s.probe == 0: // has the path become wider? What did not arrive is tried again
		s.probe = s.high
		s.tries = 0
		s.due = true
		s.at = monotime.Never
		s.high = p.most + 1
	case s.tries < mostTries:
		s.due = true
		s.at = monotime.Never
	default:
		s.high = s.probe
		p.next(now)
	}
}

// sending returns the length of the probe that is to be sent now, and waits for so long
// for its acknowledgement.
func (p *pathMTU) sending(now monotime.Time, patience time.Duration) int {
	s := &p.search
	s.due = false
	s.tries++
	s.longest = max(s.longest, s.probe)
	s.at = now.Add(patience)
	return s.probe
}

// proved is told that a probe of so many bytes has arrived. The answer may come late, when
// the search has gone on without it.
func (p *pathMTU) proved(now monotime.Time, size int) {
	s := &p.search
	if size <= p.now || size > s.longest {
		return // that was known, or not asked
	}
	s.low = size
	p.now = size
	p.late = 0
	p.lost = 0
	p.wait = min(firstRaise, p.raise)
	if s.high <= size {
		s.high = p.most + 1
	}
	p.next(now)
}

// end ends the search for good.
func (p *pathMTU) end() { p.search = search{at: monotime.Never} }
