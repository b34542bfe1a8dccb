package engine

import (
	"bytes"
	"fmt"
	"testing"

	"weft/internal/counters"
	"weft/internal/engine/link"
	"weft/internal/engine/wire"
)

// near reports whether two ranks of a scenario reach each other over a path that is
// reliable by itself, as those of one host do.
func (s *scenario) near(a, b int) bool {
	return !s.lossy || a != b && a < s.host && b < s.host
}

// path returns the way between two ranks.
func (s *scenario) path(from, to int) Path {
	return Path{MTU: s.mtu, Lossy: !s.near(from, to), Guard: s.guard, Incarnation: s.incarnations[to], Beats: s.beats,
		Share: s.agreement(s.incarnations[to]).Share}
}

// agreement returns the part of an incarnation in agreements. There are no real keys: shares are numbers, and their
// sum is what they agree on.
func (s *scenario) agreement(incarnation uint64) link.Agreement {
	share := make([]byte, wire.ShareSize)
	share[0] = byte(incarnation)
	return link.Agreement{Share: share, Root: func(other []byte) []byte {
		return append([]byte("agreed"), share[0]+other[0])
	}}
}

// strange runs a command of strangers.
func (s *scenario) strange() {
	to := s.number("to", 0)
	switch s.d.Cmd {
	case "stranger":
		for range s.number("count", 1) {
			s.intrude(to, s.forgery(to))
		}
	case "again":
		id := s.number("id", 0)
		for _, f := range s.past {
			switch {
			case f.id != id:
			case s.d.HasArg("flip"):
				s.intrude(s.number("to", f.to), flipped(f.b)...)
			default:
				s.intrude(s.number("to", f.to), f.b)
			}
		}
	case "restart":
		s.restart(to)
	case "known":
		e := s.engines[to]
		s.say("rank %d knows %v, would dial %v, and has dropped: %s", to, e.ranks(), e.Wanted(nil), dropped(e.Dropped()))
	}
}

// flipped returns the packets that differ from one in one byte.
func flipped(pkt []byte) (all [][]byte) {
	for at := range pkt {
		other := bytes.Clone(pkt)
		other[at] ^= 1 << (at % 8)
		all = append(all, other)
	}
	return all
}

// intrude has packets arrive by a network, and says what its receiver dropped them
// for.
func (s *scenario) intrude(to int, pkts ...[]byte) {
	e := s.engines[to]
	from := Unknown
	switch {
	case s.d.HasArg("trusted"):
		from = Trusted
	case s.d.HasArg("private"):
		from = Private
	}
	before := e.Dropped()
	for _, pkt := range pkts {
		e.Recv(s.now, from, pkt)
	}
	s.say("  rank %d: %s", to, dropped(less(e.Dropped(), before)))
}

// forgery makes a packet: a BYE, unless the arguments say what is wrong with it.
func (s *scenario) forgery(to int) []byte {
	src := s.number("src", 1)
	incarnation := s.incarnations[src%len(s.engines)]
	if s.d.HasArg("incarnation") {
		incarnation = uint64(s.number("incarnation", 0))
	}
	var pkt []byte
	var how string
	if s.d.MaybeScanArgs(s.t, "secret", &how); how != "" {
		secret := s.engines[to].cfg.Secret
		if how == "wrong" {
			secret = []byte("another") // and everything else is as it must be
		}
		self := link.NewSelf(1, uint32(src), incarnation, secret)
		c := link.NewConn(&link.Config{}, self, uint32(to), s.incarnations[to])
		c.Guard(s.guardArg())
		var out [1]link.Packet
		frame := wire.Bye{}.Append(nil)
		if s.d.HasArg("harmless") {
			frame = wire.Knock{}.Append(nil)
		}
		c.Queue(s.now, frame, nil)
		c.Output(s.now, out[:])
		pkt = append(bytes.Clone(out[0].Header), out[0].Payload...)
	} else {
		f := wire.Link{
			Kind: wire.Kind(s.number("kind", int(wire.KindData))), Src: uint32(src), Dst: uint32(s.number("dst", to)),
			Job: uint64(s.number("job", 1)), Incarnation: incarnation, Counter: uint64(s.number("counter", 1)),
		}
		switch s.guardArg() {
		case link.Checked:
			f.Flags |= wire.Checksum
		case link.Encrypted:
			f.Flags |= wire.Encrypted
		}
		pkt = f.Append(nil)
		if f.Kind == wire.KindData {
			pkt = append(pkt, wire.Bye{}.Append(nil)...)
		}
	}
	if at := s.number("flip", -1); at >= 0 {
		pkt[at] ^= 0x80
	}
	return pkt[:s.number("cut", len(pkt))]
}

// guardArg is the guard that the arguments name.
func (s *scenario) guardArg() link.Guard {
	switch {
	case s.d.HasArg("checksum"):
		return link.Checked
	case s.d.HasArg("encrypted"):
		return link.Encrypted
	}
	return link.Tagged
}

// restart ends a rank and starts it again, under the same secret.
func (s *scenario) restart(rank int) {
	s.incarnations[rank] += 100
	cfg := s.engines[rank].cfg
	cfg.Incarnation = s.incarnations[rank]
	cfg.Agreement = s.agreement(cfg.Incarnation)
	s.engines[rank] = New(cfg)
}

// less returns what has been dropped between two counts.
func less(a, b counters.Dropped) counters.Dropped {
	return counters.Dropped{
		Malformed: a.Malformed - b.Malformed, Foreign: a.Foreign - b.Foreign, Forged: a.Forged - b.Forged,
		Replayed: a.Replayed - b.Replayed, Stale: a.Stale - b.Stale,
	}
}

func dropped(s counters.Dropped) string {
	text := ""
	for _, why := range []struct {
		name  string
		count uint64
	}{{"malformed", s.Malformed}, {"foreign", s.Foreign}, {"forged", s.Forged}, {"replayed", s.Replayed}, {"stale",
		s.Stale}} {
		if why.count == 1 {
			text += " " + why.name
		} else if why.count > 0 {
			text += fmt.Sprintf(" %d %s", why.count, why.name)
		}
	}
	if text == "" {
		return "nothing"
	}
	return text[1:]
}

// Whatever strangers send, an engine keeps nothing of it, dials nobody, sends nothing
// and needs no timer.
func FuzzStrangers(f *testing.F) {
	cfg := Config{Rank: 1, Size: 4, Job: 1, Secret: []byte("secret"), Incarnation: 5}
	stranger := link.NewConn(&link.Config{}, link.NewSelf(1, 2, 7, []byte("another")), 1, 5)
	stranger.Queue(1, wire.Push{End: true, Limit: 400}.Append(nil), make([]byte, 400))
	var out [1]link.Packet
	stranger.Output(1, out[:])
	f.Add(append(bytes.Clone(out[0].Header), out[0].Payload...))
	stranger.Guard(link.Encrypted)
	stranger.Queue(1, wire.Push{End: true, Limit: 400}.Append(nil), make([]byte, 400))
	stranger.Output(1, out[:])
	f.Add(bytes.Clone(out[0].Header))
	for k := wire.KindData; k <= wire.KindProbe; k++ {
		f.Add((&wire.Link{Kind: k, Src: 2, Dst: 1, Job: 1, Incarnation: 7, Counter: 1}).Append(nil))
		f.Add((&wire.Link{Kind: k, Src: 2, Dst: 1, Job: 1, Incarnation: 7, Counter: 1, Flags: wire.Checksum}).Append(nil))
		f.Add((&wire.Link{Kind: k, Src: 2, Dst: 1, Job: 1, Incarnation: 7, Counter: 1, Flags: wire.Encrypted}).Append(nil))
	}
	f.Fuzz(func(t *testing.T, pkt []byte) {
		e := New(cfg)
		for _, from := range []int{Unknown, Trusted, Private} {
			e.Recv(1, from, pkt)
			if _, n, _ := e.Output(1, out[:]); len(e.peers) > 0 || len(e.wanted) > 0 || n > 0 || e.Timed() {
				t.Errorf("it knows %v, would dial %v, and sends %d packets", e.ranks(), e.wanted, n)
			}
		}
		if s := e.Dropped(); s.Malformed+s.Foreign+s.Forged != 3 {
			t.Errorf("dropped: %s", dropped(s))
		}
	})
}
