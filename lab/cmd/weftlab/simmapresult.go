package main

import (
	"fmt"

	"weft/lab/mapper"
	"weft/lab/routing"
	"weft/lab/switches/fabric"
	"weft/lab/switches/updown"
)

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
	Blind    bool      `json:"mapper_cut_off"` // its own link has failed: it knows nothing of the others
	Kept     bool      `json:"order_kept"`     // new routes may be taken while packets are on old ones
	Mixed    int       `json:"cycle_with_old"` // channels of a cycle of old and new routes
	Other    int       `json:"pairs_other_route"`
	CutOff   int       `json:"pairs_cut_off"`
	OffHosts []string  `json:"hosts_cut_off,omitempty"`
	Routes   mapRoutes `json:"routes"`
}

// sound reports whether everything is as it must be.
func (r *mapResult) sound() bool {
	f := r.Failed
	switch {
	case !r.Map.Same || r.Routes.Cycle > 0:
		return false
	case f == nil:
		return true
	case f.Kept && f.Mixed > 0:
		return false
	}
	return f.Right && f.Routes.Cycle == 0
}

// describeMap compares a map with the network.
func describeMap(m *mapper.Mapper, found *mapper.Map, n *fabric.Network, host int) mapFound {
	s := m.Stats
	d := mapFound{
		From: n.Hosts[host].Name, Switches: len(found.Net.Switches), Hosts: len(found.Net.Hosts), Links: len(found.Net.Links),
		Scouts: s.Sent(), Compared: s.Comparing, Came: s.Came, Longest: s.Longest, Took: micro(found.Took) / 1000, Same: true,
	}
	if err := found.Same(n, host); err != nil {
		d.Same = false
		d.Wrong = err.Error()
	}
	return d
}

// mapperSwitch returns the switch of the mapper's host, whose link works.
func mapperSwitch(found *mapper.Map) int {
	home, _ := found.Net.Home(found.Host)
	return home.Switch
}

// describeRoutes returns the figures of routes, and those of the alternatives.
func describeRoutes(n *fabric.Network, routes *updown.Routes) mapRoutes {
	shortest := updown.Find(n, routes.Order, updown.Rule{Shortest: true})
	first := updown.Find(n, routes.Order, updown.Rule{First: true})
	m := routing.Measure(routes, shortest)
	deps := routing.DependenciesOf(routes)
	return mapRoutes{
		Root: n.Switches[routes.Order.Root].Name, Order: routes.Order.Kind, Pairs: m.Pairs, Apart: m.Apart, Hops: m.Hops,
		Longest: m.Longest,
		Stretch: m.Stretch, MostStretch: m.MostStretch, Dependencies: deps.Count, Cycle: len(deps.Cycle()),
		ShortCycle: len(routing.DependenciesOf(shortest).Cycle()), Channels: m.Channels, Load: m.Load, MostLoad: m.MostLoad,
		FirstLoad: routing.Measure(first, shortest).MostLoad, ShortLoad: routing.Measure(shortest, shortest).MostLoad,
	}
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
	fmt.Printf("map      from %s: %d switches, %d hosts, %d links in %.3g ms of virtual time\n", m.From, m.Switches,
		m.Hosts, m.Links, m.Took)
	fmt.Printf("         %d scouts, of which %d compared switches and %d came back; the longest route had %d turns\n",
		m.Scouts, m.Compared, m.Came, m.Longest)
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
	fmt.Printf("         found after %.3g ms: %s on the map; %d scouts in %d rounds, %d of them lost\n", f.Took,
		list(f.Found), f.Scouts, f.Rounds, f.Lost)
	if f.Blind {
		fmt.Println("         that is the mapper's own link: it can tell nothing of the rest, which keeps its routes")
		return
	}
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
		fmt.Printf("         the order is kept: old and new routes together have %s, so packets need not stop\n",
			mapCycle(f.Mixed))
	case f.Mixed > 0:
		fmt.Printf("         the order is new: old and new routes together have %s, "+
			"so the network must be empty in between\n", mapCycle(f.Mixed))
	}
}

func (r *mapRoutes) print(head string) {
	fmt.Printf("%-8s up*/down*, %s from %s: %d pairs of hosts, %.3g links between switches each, at most %d; "+
		"%.3g times the shortest, at most %.3g\n",
		head, r.Order, r.Root, r.Pairs, r.Hops, r.Longest, r.Stretch, r.MostStretch)
	fmt.Printf("         %s among %d dependencies of %d channels; on the shortest routes %s\n", mapCycle(r.Cycle),
		r.Dependencies, r.Channels, mapCycle(r.ShortCycle))
	fmt.Printf("         %.4g routes over a channel, at most %d (%.2f times as many); "+
		"%d if always the first of equal routes were taken, %d on the shortest\n",
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
