package mapper

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"weft/internal/sim"
	"weft/lab/routing"
	"weft/lab/switches/fabric"
)

// TestScenarios runs the scenarios in testdata: each proves what its first sentence says. After a change of the
// mapper,
//
//	go test ./internal/sim/mapper -run Scenarios -rewrite
//
// records what happens now; commit only changes that you understand.
//
// The commands, with what they print:
//
//	network            the file of links that follows; ports without a line are free
//	explore from=n0    the map, as a file of links, and whether it is the network
//	break link=a:5     a link fails, and says nothing
//	mend link=a:5      it works again
//	check              which links of the map the mapper takes for dead, and what lies beyond
//	fly from=n0 turns=(1,2)   where a packet with this route comes to
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &scenario{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "network" {
				n, err := fabric.Parse("network", strings.NewReader(d.Input))
				if err != nil {
					return err.Error()
				}
				*s = scenario{net: n, wiring: NewWiring(sim.NewWorld(1), n, Costs{})}
				return fmt.Sprintf("%d switches, %d hosts, %d links", len(n.Switches), len(n.Hosts), len(n.Links))
			}
			return s.run(t, d)
		})
	})
}

// A scenario is a network and what its mapper has found.
type scenario struct {
	net    *fabric.Network
	wiring *Wiring
	mapper *Mapper
	host   int
	found  *Map
}

func (s *scenario) run(t *testing.T, d *datadriven.TestData) string {
	var from, link string
	var turns []string
	d.MaybeScanArgs(t, "from", &from)
	d.MaybeScanArgs(t, "link", &link)
	for _, arg := range d.CmdArgs {
		if arg.Key == "turns" {
			turns = arg.Vals
		}
	}
	switch d.Cmd {
	case "explore":
		return s.explore(from)
	case "break", "mend":
		id, err := s.net.FindLink(link)
		if err != nil {
			return err.Error()
		}
		s.net.Links[id].Down = d.Cmd == "break"
		return s.net.LinkName(id)
	case "check":
		return s.check()
	case "fly":
		return s.fly(from, turns)
	}
	t.Fatalf("%s: there is no command %q", d.Pos, d.Cmd)
	return ""
}

func (s *scenario) explore(from string) string {
	s.host, _ = s.net.Host(from)
	s.mapper = New(s.wiring, s.host)
	var err error
	if s.found, err = s.mapper.Explore(); err != nil {
		return err.Error()
	}
	var b strings.Builder
	if _, err := s.found.Net.WriteTo(&b); err != nil {
		return err.Error()
	}
	stats := s.mapper.Stats
	fmt.Fprintf(&b, "scouts: %d that ask, %d that return, %d that compare; %v\n", stats.Asking, stats.Returning,
		stats.Comparing, s.found.Took.Round(time.Microsecond))
	return b.String() + s.same()
}

// same says whether the map is the network.
func (s *scenario) same() string {
	if err := s.found.Same(s.net, s.host); err != nil {
		return err.Error()
	}
	return "it is the network"
}

func (s *scenario) check() string {
	v := s.mapper.Check(s.found)
	var b strings.Builder
	for _, link := range v.Dead {
		fmt.Fprintf(&b, "dead: %s\n", s.found.Net.LinkName(link))
	}
	for _, link := range v.Beyond {
		fmt.Fprintf(&b, "beyond: %s\n", s.found.Net.LinkName(link))
	}
	fmt.Fprintf(&b, "%d of %d scouts lost in %d rounds; ", v.Lost, v.Scouts, v.Rounds)
	was := s.found
	s.found = s.found.Without(v)
	b.WriteString("without these " + s.same())
	s.found = was
	return b.String()
}

func (s *scenario) fly(from string, turns []string) string {
	host, _ := s.net.Host(from)
	var route []int8
	for _, text := range turns {
		var turn int8
		if _, err := fmt.Sscan(text, &turn); err != nil {
			return err.Error()
		}
		route = append(route, turn)
	}
	at, ok := routing.Follow(s.net, host, route)
	if !ok {
		return "lost"
	}
	return s.net.EndName(at)
}
