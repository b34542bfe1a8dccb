package weft

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

// envSim holds the simulation in which weft sim runs the program, as JSON.
const envSim = "WEFT_SIM"

var errJoinSim = errors.New("weft: in the simulator all ranks live in one process: start them with weft.Main, not " +
	"weft.Join")

// A simOrder is the content of envSim.
type simOrder struct {
	Ranks    int
	Topology string
	Link     string
	MTU      int
	PerHost  int
	Loss     float64
	GoBackN  bool
	Seed     uint64
	Log      string // a file for the event log
	Trace    string // a file for how much each rank sends to each other rank
	Timeline string // a file for the operations of each rank and their times
	SVG      string // a file for a picture of the load
	JSON     bool   // report as JSON, on standard output
}

// simulated is Main in the simulator. It returns the exit status.
func simulated(text string, run func(ctx context.Context, p *Proc) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := simulate(ctx, text, run); err != nil {
		fmt.Fprintf(os.Stderr, "weft: %s\n", strings.TrimPrefix(err.Error(), "weft: "))
		return 1
	}
	return 0
}

func simulate(ctx context.Context, text string, run func(ctx context.Context, p *Proc) error) error {
	var o simOrder
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("weft: %s: %w", envSim, err)
	}
	c := Cluster{
		Ranks: o.Ranks, Topology: o.Topology, Link: o.Link, MTU: o.MTU, PerHost: o.PerHost, Loss: o.Loss,
		GoBackN: o.GoBackN, Seed: o.Seed,
	}
	if o.Log != "" {
		f, err := os.Create(o.Log)
		if err != nil {
			return err
		}
		defer f.Close()
		w := bufio.NewWriter(f)
		defer w.Flush()
		c.Log = w
	}
	if o.Trace == "" {
		o.Trace = os.Getenv(envTrace)
	}
	if o.Trace != "" {
		f, err := os.Create(o.Trace)
		if err != nil {
			return err
		}
		defer f.Close()
		c.Trace = f
	}
	if o.Timeline != "" {
		f, err := os.Create(o.Timeline)
		if err != nil {
			return err
		}
		defer f.Close()
		c.Timeline = f
	}
	var err error
	if c.amt, err = loadAMT(o.Ranks); err != nil {
		return err
	}
	start := time.Now()
	s, err := Simulate(ctx, c, run)
	if s == nil {
		return err
	}
	took := time.Since(start)
	if o.SVG != "" {
		if err := writeFile(o.SVG, s.WriteSVG); err != nil {
			return err
		}
	}
	if o.JSON {
		return errors.Join(err, s.writeJSON(os.Stdout, took))
	}
	s.writeText(os.Stderr, took, o)
	return err
}

func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// WriteSVG draws, as SVG, how busy each link of the network was.
func (s *Simulation) WriteSVG(w io.Writer) error { return s.net.WriteSVG(w, s.end) }

func (s *Simulation) writeText(w io.Writer, took time.Duration, o simOrder) {
	mean, most, where := s.net.Utilization(s.end)
	fmt.Fprintf(w, "simulated %d ranks on %s, links %s, seed %d\n", s.Ranks, s.Topology, o.Link, o.Seed)
	fmt.Fprintf(w, "  virtual time      %v\n", s.Time)
	fmt.Fprintf(w, "  messages          %d\n", s.Messages)
	fmt.Fprintf(w, "  packets           %d, %d bytes; %d lost, %d sent again\n", s.Packets, s.Bytes, s.Lost, s.Resent)
	if s.Undelivered > 0 {
		fmt.Fprintf(w, "  not delivered     %d messages that were not accepted\n", s.Undelivered)
	}
	fmt.Fprintf(w, "  link utilization  mean %.2g %%, most %.2g %% (%s)\n", 100*mean, 100*most, where)
	fmt.Fprintf(w, "  it took           %v: %.3g events/s, %.3g KiB a rank\n",
		took.Round(time.Millisecond), float64(s.Events)/took.Seconds(), float64(memory())/1024/float64(s.Ranks))
	fmt.Fprintf(w, "  hash              %#016x\n", s.Hash)
	if o.SVG != "" {
		fmt.Fprintf(w, "  picture           %s\n", o.SVG)
	}
}

func (s *Simulation) writeJSON(w io.Writer, took time.Duration) error {
	mean, most, where := s.net.Utilization(s.end)
	return json.NewEncoder(w).Encode(map[string]any{
		"ranks": s.Ranks, "topology": s.Topology, "virtual_s": s.Time.Seconds(), "messages": s.Messages, "packets": s.Packets,
		"bytes": s.Bytes, "lost": s.Lost, "resent": s.Resent, "events": s.Events, "hash": fmt.Sprintf("%#016x", s.Hash),
		"utilization_mean": mean, "utilization_most": most, "busiest_link": where,
		"took_s": took.Seconds(), "bytes_per_rank": memory() / uint64(s.Ranks),
	})
}

// memory returns how many bytes the process has got from the system.
func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
