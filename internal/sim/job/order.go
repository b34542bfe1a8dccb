package job

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"weft/internal/fault"
	"weft/internal/join"
	"weft/internal/sys"
)

// Env holds the Order by which weft sim runs a program, as JSON.
const Env = "WEFT_SIM"

// An Order is a simulation that weft sim asks for.
type Order struct {
	Ranks    int
	Topology string
	Link     string
	MTU      int
	PerHost  int
	Loss     float64
	GoBackN  bool
	Faults   fault.List
	Seed     uint64
	Log      string // a file for the event log
	Trace    string // a file for how much each rank sends to each other rank
	Timeline string // a file for the operations of each rank and their times
	JSON     bool   // report as JSON, on standard output
}

// Obey carries out the order that the environment has, and reports on the simulation.
func Obey(ctx context.Context, program func(m *join.Member) join.Program) (err error) {
	var o Order
	if err := json.Unmarshal([]byte(os.Getenv(Env)), &o); err != nil {
		return fmt.Errorf("weft: %s: %w", Env, err)
	}
	c := Cluster{
		Ranks: o.Ranks, Topology: o.Topology, Link: o.Link, MTU: o.MTU, PerHost: o.PerHost, Loss: o.Loss,
		GoBackN: o.GoBackN, Faults: o.Faults, Seed: o.Seed,
	}
	if o.Trace == "" {
		o.Trace = os.Getenv(join.EnvTrace)
	}
	for _, out := range []struct {
		name string
		to   *io.Writer
	}{{o.Log, &c.Log}, {o.Trace, &c.Trace}, {o.Timeline, &c.Timeline}} {
		if out.name == "" {
			continue
		}
		f, err := sys.CreateFresh(out.name)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(f)
		defer func() { err = errors.Join(err, w.Flush(), f.Close()) }()
		*out.to = w
	}
	if c.AMT, err = join.LoadAMT(o.Ranks); err != nil {
		return err
	}
	start := time.Now()
	r, err := c.Run(ctx, program)
	if r == nil {
		return err
	}
	return errors.Join(err, r.report(o, time.Since(start)))
}

// report tells how a simulation went that took so long.
func (r *Result) report(o Order, took time.Duration) error {
	if o.JSON {
		return r.writeJSON(os.Stdout, o, took)
	}
	r.writeText(os.Stderr, o, took)
	return nil
}

func (r *Result) writeText(w io.Writer, o Order, took time.Duration) {
	mean, most, where := r.Net.Utilization(r.end())
	s := r.Net.Stats
	fmt.Fprintf(w, "simulated %d ranks on %s, links %s, seed %d\n", o.Ranks, r.Net.Topology().Name(), o.Link, o.Seed)
	fmt.Fprintf(w, "  virtual time      %v\n", r.Time)
	fmt.Fprintf(w, "  messages          %d\n", r.Messages)
	fmt.Fprintf(w, "  packets           %d, %d bytes; %d lost, %d sent again\n", s.Delivered, s.Bytes, r.Lost(), r.Resent)
	if r.Undelivered > 0 {
		fmt.Fprintf(w, "  not delivered     %d messages that were not accepted\n", r.Undelivered)
	}
	fmt.Fprintf(w, "  link utilization  mean %.2g %%, most %.2g %% (%s)\n", 100*mean, 100*most, where)
	fmt.Fprintf(w, "  it took           %v: %.3g events/s, %.3g KiB a rank\n",
		took.Round(time.Millisecond), float64(r.World.Events())/took.Seconds(), float64(memory())/1024/float64(o.Ranks))
	fmt.Fprintf(w, "  hash              %#016x\n", r.World.Hash())
}

func (r *Result) writeJSON(w io.Writer, o Order, took time.Duration) error {
	mean, most, where := r.Net.Utilization(r.end())
	s := r.Net.Stats
	return json.NewEncoder(w).Encode(map[string]any{
		"ranks": o.Ranks, "topology": r.Net.Topology().Name(), "virtual_s": r.Time.Seconds(), "messages": r.Messages,
		"packets": s.Delivered, "bytes": s.Bytes, "lost": r.Lost(), "resent": r.Resent, "events": r.World.Events(),
		"hash": fmt.Sprintf("%#016x", r.World.Hash()), "utilization_mean": mean, "utilization_most": most,
		"busiest_link": where, "took_s": took.Seconds(), "bytes_per_rank": memory() / uint64(o.Ranks),
	})
}

// memory returns how many bytes the process has got from the system.
func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
