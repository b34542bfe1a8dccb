package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/sim"
	"weft/internal/sim/fabric"
	"weft/internal/sim/mapper"
	"weft/internal/sim/updown"
)

const simMapHelp = `Finds a network of switches from one of its hosts, in virtual time, as Myrinet's
mappers do: switches have no names, and a scout that is lost says nothing. Then it
finds up*/down* routes on what was found, and checks that packets on them can never
wait for each other in a circle. With -fail links fail afterwards; the mapper finds
which, and routes lead round them.

The network is generated, or read from a file of links: lines "switch NAME PORTS",
"host NAME SWITCH:PORT" and "link SWITCH:PORT SWITCH:PORT", with # before comments.
Ports are counted from 0. weft sim -topology takes the same names and files.

The picture has the switch in the middle from which all others are nearest, and what
is as far from it on a circle; links in the colour of their load when every host sends
to every other, and links that have failed in blue.

EXAMPLES
  weft sim map                                     1000 hosts at 8-port switches, at random
  weft sim map -n 64 -topology switch-fattree:8 -svg map.svg
  weft sim map -topology file:net.links -from n3   what host n3 finds
  weft sim map -topology file:net.links -fail a:6,n7   two links fail: at port 6 of a, and of n7
  weft sim map -n 200 -fail 3 -seed 5 -json        three links fail, as the seed decides
  weft sim map -n 100 -o found.links               write down what was found`

type simMapFlags struct {
	hosts                              int
	topology, from, fail, link, svg, o string
	seed                               uint64
	json                               bool
}

func simMapCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft sim map", flag.ContinueOnError)
	f := &simMapFlags{}
	fs.IntVar(&f.hosts, "n", 1000, "hosts of a network that is generated")
	fs.StringVar(&f.topology, "topology", "switch-random:8", fabric.Specs)
	fs.StringVar(&f.from, "from", "", "the host that finds the network; the first")
	fs.StringVar(&f.fail, "fail", "", "links that fail: SWITCH:PORT or HOST, with commas; or how many, at random")
	fs.StringVar(&f.link, "link", "1280Mbps,500ns", "bandwidth of each link, and its delay with that of the switch behind it")
	fs.Uint64Var(&f.seed, "seed", 1, "which links fail")
	fs.StringVar(&f.svg, "svg", "", "draw the network, with the load of its links, to this file")
	fs.StringVar(&f.o, "o", "", "write what was found to this file of links")
	fs.BoolVar(&f.json, "json", false, "print the result as JSON")
	return &ffcli.Command{
		Name: "map", ShortUsage: "weft sim map [FLAGS]", ShortHelp: "find a network of switches, and routes through it", LongHelp: simMapHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("sim map: %q is one argument too many; the network is named by -topology", args[0])
			}
			return f.run()
		},
	}
}

// A mapResult is what -json prints.
type mapResult struct {
	Test     string      `json:"test"` // sim-map
	Topology string      `json:"topology"`
	Switches int         `json:"switches"`
	Hosts    int         `json:"hosts"`
	Links    int         `json:"links"`
	Map      mapFound    `json:"map"`
	Routes   mapRoutes   `json:"routes"`
	Failed   *mapFailure `json:"failed,omitempty"`
}

// A mapFound is how the network was found.
type mapFound struct {
	From     string  `json:"from"`
	Switches int     `json:"switches"`
	Hosts    int     `json:"hosts"`
	Links    int     `json:"links"`
	Scouts   int     `json:"scouts"`
	Compared int     `json:"scouts_comparing"`
	Came     int     `json:"scouts_back"`
	Longest  int     `json:"longest_route"`
	Took     float64 `json:"took_ms"` // of virtual time
	Same     bool    `json:"same"`    // as the network that the mapper's host can reach
	Wrong    string  `json:"wrong,omitempty"`
}

// A mapRoutes is what the routes are like.
type mapRoutes struct {
	Root         string  `json:"root"`
	Order        string  `json:"order"`
	Pairs        int     `json:"pairs"`
	Apart        int     `json:"pairs_apart"`
	Hops         float64 `json:"hops"` // links between switches
	Longest      int     `json:"longest"`
	Stretch      float64 `json:"stretch"`
	MostStretch  float64 `json:"stretch_most"`
	Dependencies int     `json:"dependencies"`
	Cycle        int     `json:"cycle"`          // channels of one; 0: there is none
	ShortCycle   int     `json:"cycle_shortest"` // did packets take the shortest routes
	Channels     int     `json:"channels"`
	Load         float64 `json:"load"` // routes over a channel, on average
	MostLoad     int     `json:"load_most"`
	FirstLoad    int     `json:"load_most_first"`    // if always the first of equal routes were taken
	ShortLoad    int     `json:"load_most_shortest"` // if the shortest of all were, as if nothing could deadlock
}

// A mapFailure is what became of links that failed.
type mapFailure struct {
	Links    []string  `json:"links"`
	Found    []string  `json:"found"` // names on the map
	Right    bool      `json:"right"` // what is left of the map is what is left of the network
	Wrong    string    `json:"wrong,omitempty"`
	Scouts   int       `json:"scouts"`
	Lost     int       `json:"scouts_lost"`
	Rounds   int       `json:"rounds"`
	Took     float64   `json:"took_ms"`
	Kept     bool      `json:"order_kept"`     // new routes may be taken while packets are on old ones
	Mixed    int       `json:"cycle_with_old"` // channels of a cycle of old and new routes
	Other    int       `json:"pairs_other_route"`
	CutOff   int       `json:"pairs_cut_off"`
	OffHosts []string  `json:"hosts_cut_off,omitempty"`
	Routes   mapRoutes `json:"routes"`
}

func (f *simMapFlags) run() error {
	wire, err := sim.ParseWire(f.link)
	if err != nil {
		return err
	}
	n, err := fabric.Open(f.topology, f.hosts)
	if err != nil {
		return err
	}
	host := 0
	if f.from != "" {
		known := false
		if host, known = n.Host(f.from); !known {
			return fmt.Errorf("sim map: -from %s: there is no such host; the first is %s", f.from, n.Hosts[0].Name)
		}
	}
	failing, err := f.failing(n)
	if err != nil {
		return err
	}
	m := mapper.New(mapper.NewWiring(sim.NewWorld(f.seed), n, mapper.Costs{Wire: wire}), host)
	m.Progress = mapProgress()
	found, err := m.Explore()
	if err != nil {
		return err
	}
	result := mapResult{Test: "sim-map", Topology: f.topology, Switches: len(n.Switches), Hosts: len(n.Hosts), Links: len(n.Links)}
	result.Map = describeMap(m, found, n, host)
	routes := updown.Best(found.Net, mapperSwitch(found))
	result.Routes = describeRoutes(found.Net, routes)
	drawn := found
	if len(failing) > 0 {
		result.Failed, drawn, routes = fail(m, found, routes, n, host, failing)
	}
	if err := f.write(drawn, routes, wire); err != nil {
		return err
	}
	if f.json {
		err = printJSON([]mapResult{result})
	} else {
		result.print()
	}
	if err == nil && !result.sound() {
		return exit(1)
	}
	return err
}

// sound reports whether everything is as it must be.
func (r *mapResult) sound() bool {
	return r.Map.Same && r.Routes.Cycle == 0 && (r.Failed == nil || r.Failed.Right && r.Failed.Routes.Cycle == 0 && !(r.Failed.Kept && r.Failed.Mixed > 0))
}

// failing returns the links that are to fail.
func (f *simMapFlags) failing(n *fabric.Network) ([]int, error) {
	var links []int
	count, err := strconv.Atoi(f.fail)
	if err != nil {
		for _, name := range words(f.fail) {
			link, err := n.FindLink(name)
			if err != nil {
				return nil, fmt.Errorf("sim map: -fail %s: %w", name, err)
			}
			links = append(links, link)
		}
		return links, nil
	}
	if count < 0 || count > len(n.Links) {
		return nil, fmt.Errorf("sim map: -fail %d: the network has %d links", count, len(n.Links))
	}
	r := rand.New(rand.NewPCG(f.seed, 0x6661696c))
	return r.Perm(len(n.Links))[:count], nil
}

// mapProgress returns what says every other second how far the mapper is.
func mapProgress() func(mapper.Stats) {
	shown := time.Now()
	return func(s mapper.Stats) {
		if time.Since(shown) > 2*time.Second {
			shown = time.Now()
			fmt.Fprintf(os.Stderr, "%d switches and %d hosts so far, %d scouts\n", s.Switches, s.Hosts, s.Sent())
		}
	}
}

func describeMap(m *mapper.Mapper, found *mapper.Map, n *fabric.Network, host int) mapFound {
	s := m.Stats
	d := mapFound{
		From: n.Hosts[host].Name, Switches: len(found.Net.Switches), Hosts: len(found.Net.Hosts), Links: len(found.Net.Links),
		Scouts: s.Sent(), Compared: s.Comparing, Came: s.Came, Longest: s.Longest, Took: micro(found.Took) / 1000, Same: true,
	}
	if err := found.Same(n, host); err != nil {
		d.Same, d.Wrong = false, err.Error()
	}
	return d
}

// mapperSwitch returns the switch of the mapper's host.
func mapperSwitch(found *mapper.Map) int {
	home, ok := found.Net.Home(found.Host)
	if !ok {
		return 0 // its own link is down
	}
	return home.Switch
}

// describeRoutes measures routes, and those that there might have been.
func describeRoutes(n *fabric.Network, routes *updown.Routes) mapRoutes {
	shortest := updown.Find(n, routes.Order, updown.Rule{Shortest: true})
	first := updown.Find(n, routes.Order, updown.Rule{First: true})
	m, deps := routes.Measure(shortest), routes.Dependencies()
	return mapRoutes{
		Root: n.Switches[routes.Order.Root].Name, Order: routes.Order.Kind, Pairs: m.Pairs, Apart: m.Apart, Hops: m.Hops, Longest: m.Longest,
		Stretch: m.Stretch, MostStretch: m.MostStretch, Dependencies: deps.Count, Cycle: len(deps.Cycle()),
		ShortCycle: len(shortest.Dependencies().Cycle()), Channels: m.Channels, Load: m.Load, MostLoad: m.MostLoad,
		FirstLoad: first.Measure(shortest).MostLoad, ShortLoad: shortest.Measure(shortest).MostLoad,
	}
}

// fail lets links fail, and has the mapper find out which.
func fail(m *mapper.Mapper, found *mapper.Map, before *updown.Routes, n *fabric.Network, host int, failing []int) (*mapFailure, *mapper.Map, *updown.Routes) {
	d := &mapFailure{Right: true}
	for _, link := range failing {
		n.Links[link].Down = true
		d.Links = append(d.Links, n.LinkName(link))
	}
	v := m.Check(found)
	left := found.Without(v)
	for _, link := range v.Dead {
		d.Found = append(d.Found, found.Net.LinkName(link))
	}
	d.Scouts, d.Lost, d.Rounds, d.Took = v.Scouts, v.Lost, v.Rounds, micro(v.Took)/1000
	if _, ok := left.Net.Home(left.Host); ok {
		if err := left.Same(n, host); err != nil {
			d.Right, d.Wrong = false, err.Error()
		}
	}
	routes, kept := before.Reroute(left.Net, mapperSwitch(left))
	d.Routes, d.Kept = describeRoutes(left.Net, routes), kept
	d.Mixed = len(routes.Dependencies().With(before.Dependencies()).Cycle())
	d.Other, d.CutOff = routes.Changed(before)
	for i, h := range left.Net.Hosts {
		if _, ok := routes.Between(left.Host, i); !ok {
			d.OffHosts = append(d.OffHosts, h.Name)
		}
	}
	return d, left, routes
}

// write writes the files that were asked for.
func (f *simMapFlags) write(found *mapper.Map, routes *updown.Routes, wire sim.Wire) error {
	if f.o != "" {
		out, err := os.Create(f.o)
		if err != nil {
			return err
		}
		_, err = found.Net.WriteTo(out)
		if err := errors.Join(err, out.Close()); err != nil {
			return err
		}
	}
	if f.svg == "" {
		return nil
	}
	out, err := os.Create(f.svg)
	if err != nil {
		return err
	}
	err = drawLoad(f.topology, found, routes, wire).WriteSVG(out, sim.Never)
	return errors.Join(err, out.Close())
}

// drawLoad returns a network over which every host has sent a packet to every other.
func drawLoad(name string, found *mapper.Map, routes *updown.Routes, wire sim.Wire) *sim.Network {
	world := sim.NewWorld(1)
	net := sim.NewNetwork(world, sim.Switched(name, found.Net, routes, sim.Wire{Delay: wire.Delay}))
	hosts := len(found.Net.Hosts)
	for from := range hosts {
		for to := range hosts {
			if _, ok := routes.Between(from, to); ok && from != to {
				net.Send(from, to, make([]byte, 1), nil)
			}
		}
		for world.Step(sim.Never) {
		}
	}
	return net
}

// mapCycle says whether there is a cycle.
func mapCycle(channels int) string {
	if channels == 0 {
		return "no cycle"
	}
	return fmt.Sprintf("a cycle of %d", channels)
}

func (r *mapResult) print() {
	fmt.Printf("network  %s: %d switches, %d hosts, %d links\n", r.Topology, r.Switches, r.Hosts, r.Links)
	m := &r.Map
	fmt.Printf("map      from %s: %d switches, %d hosts, %d links in %.3g ms of virtual time\n", m.From, m.Switches, m.Hosts, m.Links, m.Took)
	fmt.Printf("         %d scouts, of which %d compared switches and %d came back; the longest route had %d turns\n", m.Scouts, m.Compared, m.Came, m.Longest)
	if m.Same {
		fmt.Println("         it is the network, as far as that host can reach")
	} else {
		fmt.Printf("         it is WRONG: %s\n", m.Wrong)
	}
	r.Routes.print("routes")
	f := r.Failed
	if f == nil {
		return
	}
	fmt.Printf("failed   %s\n", list(f.Links))
	fmt.Printf("         found after %.3g ms: %s on the map; %d scouts in %d rounds, %d of them lost\n", f.Took, list(f.Found), f.Scouts, f.Rounds, f.Lost)
	if !f.Right {
		fmt.Printf("         what is left of the map is WRONG: %s\n", f.Wrong)
	}
	fmt.Printf("         %d pairs of hosts have another route, %d have none any more", f.Other, f.CutOff)
	if len(f.OffHosts) > 0 {
		fmt.Printf(": %s cannot be reached from the mapper", list(f.OffHosts))
	}
	fmt.Println()
	f.Routes.print("then")
	switch {
	case f.Kept:
		fmt.Printf("         the order is kept: old and new routes together have %s, so packets need not stop\n", mapCycle(f.Mixed))
	case f.Mixed > 0:
		fmt.Printf("         the order is new: old and new routes together have %s, so the network must be empty in between\n", mapCycle(f.Mixed))
	}
}

func (r *mapRoutes) print(head string) {
	fmt.Printf("%-8s up*/down*, %s from %s: %d pairs of hosts, %.3g links between switches each, at most %d; %.3g times the shortest, at most %.3g\n",
		head, r.Order, r.Root, r.Pairs, r.Hops, r.Longest, r.Stretch, r.MostStretch)
	fmt.Printf("         %s among %d dependencies of %d channels; on the shortest routes %s\n", mapCycle(r.Cycle), r.Dependencies, r.Channels, mapCycle(r.ShortCycle))
	fmt.Printf("         %.4g routes over a channel, at most %d (%.2f times as many); %d if always the first of equal routes were taken, %d on the shortest\n",
		r.Load, r.MostLoad, float64(r.MostLoad)/max(r.Load, 1), r.FirstLoad, r.ShortLoad)
}

// list names a few things.
func list(names []string) string {
	const most = 4
	text := ""
	for i, name := range names[:min(most, len(names))] {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if text == "" {
		return "none"
	}
	return text
}
