package timeline

import (
	"cmp"
	"math"
	"slices"
)

// A line turns the time of one clock into that of another.
type line struct {
	at      int64   // a moment of the clock
	offset  int64   // what is added then
	drift   float64 // what is added per ns after it
	known   int64   // the offset is known to ± this
	quality quality
}

// quality says what is known of a difference.
type quality uint8

const (
	unknown quality = iota // nothing: the wall clocks must do
	oneSide                // messages in one direction only
	bothSides
)

func (l line) better(o line) bool {
	if l.quality != o.quality {
		return l.quality > o.quality
	}
	return l.quality == bothSides && l.known < o.known
}

func (l line) apply(t int64) int64 {
	return t + l.offset + int64(math.Round(float64(t-l.at)*l.drift))
}

func (l line) how() string {
	switch l.quality {
	case bothSides:
		return "by messages and barriers in both directions"
	case oneSide:
		return "by messages in one direction: none arrives before it is sent"
	default:
		return "by the wall clocks of the hosts"
	}
}

// windows is into how many stretches the time is cut, to see how clocks drift.
const windows = 16

// leastDrift is over how long clocks must have been compared for their drift to be seen.
const leastDrift = 2e9

// fit returns the line that puts the second of two clocks on the first. Out are facts that
// the first was earlier, and in that the second was.
func fit(out, in []fact) line {
	if len(out) == 0 && len(in) == 0 {
		return line{}
	}
	from := int64(math.MaxInt64)
	to := int64(math.MinInt64) // by the second clock
	for _, f := range out {
		from = min(from, f.later)
		to = max(to, f.later)
	}
	for _, f := range in {
		from = min(from, f.earlier)
		to = max(to, f.earlier)
	}
	n := 1
	if to-from >= leastDrift {
		n = windows
	}
	spans := make([]span, n)
	for i := range spans {
		spans[i] = span{least: math.MinInt64, most: math.MaxInt64}
	}
	where := func(t int64) *span { return &spans[min(int(float64(t-from)/float64(to-from+1)*float64(n)), n-1)] }
	for _, f := range out {
		where(f.later).above(f.earlier-f.later, f.later)
	}
	for _, f := range in {
		where(f.earlier).below(f.later-f.earlier, f.earlier)
	}
	return through(spans)
}

// A span is what is known of the difference of two clocks in a stretch of time.
type span struct {
	least, most     int64
	atLeast, atMost int64 // when
}

func (s *span) above(d, at int64) {
	if d > s.least {
		s.least = d
		s.atLeast = at
	}
}

func (s *span) below(d, at int64) {
	if d < s.most {
		s.most = d
		s.atMost = at
	}
}

func (s *span) both() bool { return s.least != math.MinInt64 && s.most != math.MaxInt64 }

func (s *span) width() int64 { return max(s.most-s.least, 1) }

func (s *span) middle() (at, d int64) {
	return s.atLeast + (s.atMost-s.atLeast)/2, s.least + (s.most-s.least)/2
}

// through returns the line through the middles of spans, by least squares: the narrower a
// span is the more it counts.
func through(spans []span) line {
	var known []span
	for _, s := range spans {
		if s.both() {
			known = append(known, s)
		}
	}
	if len(known) == 0 {
		return edge(spans)
	}
	narrow := slices.MinFunc(known, func(a, b span) int { return cmp.Compare(a.width(), b.width()) })
	at, offset := narrow.middle()
	l := line{at: at, offset: offset, known: (narrow.width() + 1) / 2, quality: bothSides}
	var sum, sumX, sumY, sumXX, sumXY float64
	for _, s := range known {
		t, d := s.middle()
		w := 1 / float64(s.width())
		x := float64(t - at)
		y := float64(d - offset)
		sum = sum + w
		sumX = sumX + w*x
		sumY = sumY + w*y
		sumXX = sumXX + w*x*x
		sumXY = sumXY + w*x*y
	}
	if even := sum*sumXX - sumX*sumX; len(known) > 2 && even > 0 {
		l.drift = (sum*sumXY - sumX*sumY) / even
		l.offset += int64(math.Round((sumY - l.drift*sumX) / sum))
	}
	return l
}

// edge returns the line where there are messages in one direction only, or never in both
// at about the same time: the difference is the least, or the most, that it can be.
func edge(spans []span) line {
	all := span{least: math.MinInt64, most: math.MaxInt64}
	for _, s := range spans {
		if s.least != math.MinInt64 {
			all.above(s.least, s.atLeast)
		}
		if s.most != math.MaxInt64 {
			all.below(s.most, s.atMost)
		}
	}
	switch {
	case all.both():
		at, d := all.middle()
		return line{at: at, offset: d, known: all.width(), quality: bothSides}
	case all.least != math.MinInt64:
		return line{at: all.atLeast, offset: all.least, known: -1, quality: oneSide}
	default:
		return line{at: all.atMost, offset: all.most, known: -1, quality: oneSide}
	}
}
