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

	"weft/internal/cli"
	"weft/internal/sim"
	"weft/internal/sys"
	"weft/lab/mapper"
	"weft/lab/routing"
	"weft/lab/switches"
	"weft/lab/switches/fabric"
	"weft/lab/switches/updown"
)

const simMapHelp = `Lets a host find out how its network of switches is wired, as the mappers of Myrinet do:
switches have no names, and a scout (a packet with a route of its own) that is lost says
nothing. Then it computes routes on the map, by the up*/down* rule [Schroeder91], and
checks that packets on them can never wait for each other in a circle. With -fail some
links fail afterwards: the mapper finds which, and computes routes without them. All times
are virtual.

The output says what the mapper found, how many scouts it needed and how long that took;
whether the map is right; how long the routes are, and how evenly they load the links.

The network is generated, or read from a file of links: lines "switch NAME PORTS",
"host NAME SWITCH:PORT" and "link SWITCH:PORT SWITCH:PORT", with # before comments.
Ports are counted from 0. weft sim -topology takes the same names and files.

The picture (-svg) has the switch in the middle that is nearest to all others. Switches at
the same distance from it are on a circle. The colour of a link is its load when every
host sends to every other; links that have failed are blue.

EXAMPLES
  weftlab sim map                                     1000 hosts at 8-port switches, at random
  weftlab sim map -n 64 -topology switch-fattree:8 -svg map.svg
  weftlab sim map -topology file:net.links -from n3   what host n3 finds
  weftlab sim map -topology file:net.links -fail a:6,n7   two links fail: at port 6 of a, and of n7
  weftlab sim map -n 200 -fail 3 -seed 5 -json        three links fail, as the seed decides
  weftlab sim map -n 100 -o found.links               write down what was found
  weft sim -n 16 -topology "file:net.links by file:found.links" PROGRAM   a job that goes by it`

type simMapFlags struct {
	hosts                              int
	topology, from, fail, link, svg, o string
	seed                               uint64
	json                               bool
}

func simMapCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab sim map", flag.ContinueOnError)
	f := &simMapFlags{}
	fs.IntVar(&f.hosts, "n", 1000, "hosts of a network that is generated")
	fs.StringVar(&f.topology, "topology", "switch-random:8", fabric.Specs)
	fs.StringVar(&f.from, "from", "", "the host that finds the network; the first")
	fs.StringVar(&f.fail, "fail", "", "links that fail: SWITCH:PORT or HOST, with commas; or how many, at random")
	fs.StringVar(&f.link, "link", "1280Mbps,500ns",
		"bandwidth of each link, and its delay with that of the switch behind it")
	fs.Uint64Var(&f.seed, "seed", 1, "which links fail")
	fs.StringVar(&f.svg, "svg", "", "draw the network, with the load of its links, to this file")
	fs.StringVar(&f.o, "o", "", "write what was found to this file of links")
	fs.BoolVar(&f.json, "json", false, "print the result as JSON")
	return &ffcli.Command{
		Name: "map", ShortUsage: "weftlab sim map [FLAGS]", ShortHelp: "find a network of switches, and routes through it",
		LongHelp: simMapHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("sim map: %q is one argument too many; the network is named by -topology", args[0])
			}
			return f.run()
		},
	}
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
	result := mapResult{Test: "sim-map", Topology: f.topology, Switches: len(n.Switches), Hosts: len(n.Hosts),
		Links: len(n.Links)}
	result.Map = describeMap(m, found, n, host)
	routes := updown.Best(found.Net, mapperSwitch(found))
	result.Routes = describeRoutes(found.Net, routes)
	drawn := found
	if len(failing) > 0 {
		result.Failed, drawn, routes = fail(m, found, routes, n, host, failing)
	}
	if err := f.write(drawn, routes); err != nil {
		return err
	}
	if f.json {
		err = cli.PrintJSON([]mapResult{result})
	} else {
		result.print()
	}
	if err == nil && !result.sound() {
		return cli.Exit(1)
	}
	return err
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

// fail lets links fail, and has the mapper find out which.
func fail(
	m *mapper.Mapper, found *mapper.Map, before *updown.Routes, n *fabric.Network, host int, failing []int,
) (*mapFailure, *mapper.Map, *updown.Routes) {
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
	d.Scouts = v.Scouts
	d.Lost = v.Lost
	d.Rounds = v.Rounds
	d.Took = micro(v.Took) / 1000
	if _, ok := left.Net.Home(left.Host); !ok {
		d.Blind = true
		return d, found, before
	}
	if err := left.Same(n, host); err != nil {
		d.Right = false
		d.Wrong = err.Error()
	}
	routes, kept := routing.Reroute(before, left.Net, mapperSwitch(left))
	d.Routes = describeRoutes(left.Net, routes)
	d.Kept = kept
	d.Mixed = len(routing.DependenciesOf(routes).With(routing.DependenciesOf(before)).Cycle())
	d.Other, d.CutOff = routing.Changed(routes, before)
	for i, h := range left.Net.Hosts {
		if _, ok := routes.Between(left.Host, i); !ok {
			d.OffHosts = append(d.OffHosts, h.Name)
		}
	}
	return d, left, routes
}

// write writes the files that were asked for.
func (f *simMapFlags) write(found *mapper.Map, routes *updown.Routes) error {
	if f.o != "" {
		out, err := sys.CreateFresh(f.o)
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
	out, err := sys.CreateFresh(f.svg)
	if err != nil {
		return err
	}
	err = switches.WriteSVG(out, f.topology, found.Net, routes)
	return errors.Join(err, out.Close())
}
