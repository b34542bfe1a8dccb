package engine

import (
	"fmt"

	"weft/internal/engine/link"
	"weft/internal/engine/wire"
)

// network moves packets.
func (s *scenario) network() {
	switch s.d.Cmd {
	case "settle":
		for moves := 0; len(s.flying) > 0; moves++ {
			if moves > 10000 {
				s.say("it does not settle")
				return
			}
			s.arrive(0)
			s.flush(false)
		}
	case "swap-packets":
		i := s.find(s.number("id", 0))
		j := s.find(s.number("id2", 0))
		s.flying[i], s.flying[j] = s.flying[j], s.flying[i]
	default:
		for _, id := range s.chosen() {
			i := s.find(id)
			if s.d.Cmd == "drop" {
				s.say("  lost  %s", s.describe(s.flying[i]))
				s.flying = append(s.flying[:i], s.flying[i+1:]...)
				continue
			}
			s.say("  came  %s", s.describe(s.flying[i]))
			s.arrive(i)
			s.flush(true)
		}
	}
}

// chosen returns the packets that the arguments name: those that are on their
// way now, not those that leave in answer.
func (s *scenario) chosen() (ids []int) {
	id := s.number("id", 0)
	from := s.number("from", -1)
	to := s.number("to", -1)
	count := s.number("count", 1<<30)
	for _, f := range s.flying {
		if len(ids) < count && (id == 0 || f.id == id) && (from < 0 || f.from == from) && (to < 0 || f.to == to) {
			ids = append(ids, f.id)
		}
	}
	return ids
}

func (s *scenario) find(id int) int {
	for i, f := range s.flying {
		if f.id == id {
			return i
		}
	}
	s.t.Fatalf("%s: packet %d is not on its way", s.d.Pos, id)
	return 0
}

func (s *scenario) arrive(i int) {
	f := s.flying[i]
	s.flying = append(s.flying[:i:i], s.flying[i+1:]...)
	from := f.from
	if !s.near(f.from, f.to) {
		if from = From(min(s.guard, link.Tagged)); s.private {
			from = Private
		}
	}
	s.engines[f.to].Recv(s.now, from, f.b)
}

func (s *scenario) describe(f flying) string {
	text := wire.Describe(f.b)
	if !s.near(f.from, f.to) {
		text = wire.DescribePacket(f.b)
	}
	return fmt.Sprintf("#%d %d→%d %s", f.id, f.from, f.to, text)
}
