package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/internal/engine/link"
	"weft/internal/sim"
	"weft/lab/traffic"
)

const simCongestionHelp = `Runs traffic that overloads a simulated network over the engine's links (PROTOCOL §2),
and compares the congestion window with a fixed window. A switch drops a packet that
finds the queue of its port full. Times are virtual.

  incast    many hosts send to one without end; beside them one host exchanges 8 bytes
            with the same receiver
  halo      all hosts, in a square, exchange messages with their four neighbours, step by
            step
  alltoall  every host sends a message to every other, 32 at a time

The columns of incast:

  goodput   share of the receiver's link that carries messages
  lost      packets lost after the first 5 ms, as a share
  unfair    largest distance of a sender's share from the mean
  8 B, p99  99th percentile of half a round trip of the 8 bytes; idle: without the senders;
            ratio: the one divided by the other
  timeouts  how often a sender had to wait for its timer

The columns of halo and alltoall: the time of the exchange; the same divided by that with
a fixed window (fixed); packets sent, lost and sent again; timeouts.

EXAMPLES
  weftlab sim congestion
  weftlab sim congestion -pattern incast -n 128 -senders 1,4,16,64 -svg incast.svg
  weftlab sim congestion -pattern halo,alltoall -n 64 -topology fattree:8 -size 4096,65536
  weftlab sim congestion -link 100Gbps,1us,1MiB -json`

// congestionRow is a line of -json.
type congestionRow struct {
	Test     string  `json:"test"` // sim-congestion
	Pattern  string  `json:"pattern"`
	Window   string  `json:"window"` // congestion or fixed
	Topology string  `json:"topology"`
	Hosts    int     `json:"hosts"`
	Senders  int     `json:"senders,omitempty"`
	Size     int     `json:"size,omitempty"` // of a message
	Packets  uint64  `json:"packets"`
	Lost     uint64  `json:"lost"`
	Resent   uint64  `json:"resent"`
	Timeouts uint64  `json:"timeouts"`
	Goodput  float64 `json:"goodput,omitempty"`
	Loss     float64 `json:"loss,omitempty"`
	Unfair   float64 `json:"unfair,omitempty"`
	Short    float64 `json:"short_p99_us,omitempty"`
	Idle     float64 `json:"idle_p99_us,omitempty"`
	Time     float64 `json:"time_us,omitempty"`
	Took     float64 `json:"took_s"`
}

type simCongestionFlags struct {
	patterns, topology, link, senders, sizes, svg string
	hosts, mtu                                    int
	json                                          bool
}

func simCongestionCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab sim congestion", flag.ContinueOnError)
	f := &simCongestionFlags{}
	fs.StringVar(&f.patterns, "pattern", "incast,halo,alltoall", "with commas")
	fs.IntVar(&f.hosts, "n", 1024, "hosts")
	fs.StringVar(&f.topology, "topology", "fattree:32", "what weft sim -topology takes")
	fs.StringVar(&f.link, "link", "10Gbps,1us,256KiB",
		"bandwidth and delay of each link, and the bytes that a port of a switch holds")
	fs.IntVar(&f.mtu, "mtu", 1500, "longest packet in bytes")
	fs.StringVar(&f.senders, "senders", "1,2,4,16,64", "of an incast, with commas")
	fs.StringVar(&f.sizes, "size", "1024,8192,65536", "bytes of the messages of exchanges, with commas")
	fs.StringVar(&f.svg, "svg", "", "draw the incast's goodput and delays to this file")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	return &ffcli.Command{
		Name: "congestion", ShortUsage: "weftlab sim congestion [FLAGS]",
		ShortHelp: "incast, halo and all-to-all, with and without a congestion window",
		LongHelp:  simCongestionHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("sim congestion: %q is one argument too many", args[0])
			}
			return f.run()
		},
	}
}

func (f *simCongestionFlags) run() error {
	wire, err := sim.ParseWire(f.link)
	switch {
	case err != nil:
		return err
	case wire.Bandwidth == 0:
		return fmt.Errorf("sim congestion: -link %s: nothing is congested where links have no bandwidth", f.link)
	case f.mtu < 576 || f.mtu > 65535:
		return fmt.Errorf("sim congestion: -mtu %d: it takes 576 to 65535", f.mtu)
	}
	var rows []congestionRow
	for _, pattern := range words(f.patterns) {
		for _, fixed := range []bool{false, true} {
			c := traffic.Case{Topology: f.topology, Hosts: f.hosts, Wire: wire, MTU: f.mtu,
				Link: link.Config{FixedWindow: fixed}}
			more, err := f.measure(pattern, c)
			if err != nil {
				return err
			}
			rows = append(rows, more...)
		}
	}
	if f.svg != "" {
		if err := drawCongestion(f.svg, rows); err != nil {
			return err
		}
	}
	if f.json {
		return cli.PrintJSON(rows)
	}
	printCongestion(rows)
	return nil
}

// measure runs one pattern with one kind of window.
func (f *simCongestionFlags) measure(pattern string, c traffic.Case) (rows []congestionRow, err error) {
	row := congestionRow{Test: "sim-congestion", Pattern: pattern, Window: "congestion", Topology: c.Topology,
		Hosts: c.Hosts}
	if c.Link.FixedWindow {
		row.Window = "fixed"
	}
	name := "size"
	text := f.sizes
	most := traffic.Longest
	switch pattern {
	case "incast":
		name = "senders"
		text = f.senders
		most = c.Hosts - c.Hosts/8 - 1
	case "halo", "alltoall":
	default:
		return nil, fmt.Errorf("sim congestion: -pattern %q: there are incast, halo and alltoall", pattern)
	}
	for _, word := range words(text) {
		v, err := strconv.Atoi(word)
		if err != nil || v < 1 || v > most {
			return nil, fmt.Errorf("sim congestion: -%s %q: must be numbers from 1 to %d", name, text, most)
		}
		r := row
		start := time.Now()
		switch pattern {
		case "incast":
			err = r.incast(c, v)
		default:
			err = r.exchange(c, v)
		}
		if err != nil {
			return nil, err
		}
		r.Took = time.Since(start).Seconds()
		rows = append(rows, r)
	}
	return rows, nil
}

func (r *congestionRow) incast(c traffic.Case, senders int) error {
	got, err := traffic.RunIncast(c, senders)
	r.Senders = senders
	r.Goodput = got.Goodput
	r.Loss = got.Lost
	r.Unfair = got.Unfair
	r.Short = micro(got.Short)
	r.Idle = micro(got.Idle)
	r.count(got.Counts)
	return err
}

func (r *congestionRow) exchange(c traffic.Case, size int) error {
	run := traffic.RunAllToAll
	if r.Pattern == "halo" {
		run = traffic.RunHalo
	}
	got, err := run(c, size)
	r.Size = size
	r.Time = micro(got.Time)
	r.count(got.Counts)
	return err
}

func (r *congestionRow) count(c traffic.Counts) {
	r.Packets = c.Packets
	r.Lost = c.Lost
	r.Resent = c.Resent
	r.Timeouts = c.Timeouts
}

func printCongestion(rows []congestionRow) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	for i, r := range rows {
		if i == 0 || (r.Pattern == "incast") != (rows[i-1].Pattern == "incast") {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if r.Pattern == "incast" {
				fmt.Fprintln(w, "pattern\twindow\tsenders\tgoodput\tlost\tunfair\t8 B, p99\tidle\tratio\ttimeouts")
			} else {
				fmt.Fprintln(w, "pattern\twindow\tsize\ttime\tfixed\tpackets\tlost\tresent\ttimeouts")
			}
		}
		if r.Pattern == "incast" {
			fmt.Fprintf(w, "%s\t%s\t%d\t%.3f\t%.3g %%\t%.3g %%\t%.4g us\t%.4g us\t%.2f\t%d\n", r.Pattern, r.Window,
				r.Senders, r.Goodput,
				100*r.Loss, 100*r.Unfair, r.Short, r.Idle, r.Short/max(r.Idle, 1e-9), r.Timeouts)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.5g us\t%.3f\t%d\t%d\t%d\t%d\n", r.Pattern, r.Window, r.Size, r.Time,
			r.Time/max(fixedTime(rows, r), 1e-9),
			r.Packets, r.Lost, r.Resent, r.Timeouts)
	}
}

// fixedTime returns what an exchange takes with a fixed window.
func fixedTime(rows []congestionRow, of congestionRow) float64 {
	for _, r := range rows {
		if r.Pattern == of.Pattern && r.Size == of.Size && r.Window == "fixed" {
			return r.Time
		}
	}
	return 0
}

// drawCongestion draws what an incast does to the receiver's link, and to short messages.
func drawCongestion(file string, rows []congestionRow) error {
	goodput := &chart{title: "Incast: goodput of the receiver's link", x: "senders", y: "share of the link's bandwidth"}
	short := &chart{title: "Incast: 8 bytes beside it, 99th percentile", x: "senders",
		y: "latency (half a round trip), µs"}
	for _, r := range rows {
		if r.Pattern == "incast" {
			goodput.add(r.Window, float64(r.Senders), r.Goodput)
			short.add(r.Window, float64(r.Senders), r.Short)
		}
	}
	return saveCharts(file, []*chart{goodput, short})
}
