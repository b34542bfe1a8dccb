package perf

import (
	"context"
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft/internal/explore"
	"weft/internal/launch"
)

// The test's executable is also the ranks of its measurements.
func TestMain(m *testing.M) {
	launch.Guarded()
	if Rank() {
		return
	}
	os.Exit(m.Run())
}

// A fake is a system that measures what it is told.
type fake struct {
	name, absent string
	samples      []Sample
	err          error
	log          *[]string
}

func (f *fake) Name() string         { return f.name }
func (f *fake) Absent() string       { return f.absent }
func (f *fake) Supports(s Spec) bool { return s.Op != "pull" }
func (f *fake) Run(context.Context, Spec) ([]Sample, error) {
	*f.log = append(*f.log, f.name)
	return f.samples, f.err
}

func TestSystemsTakeTurns(t *testing.T) {
	var log []string
	a := &fake{name: "a", log: &log, samples: []Sample{{Size: 8, NS: []float64{1000, 2000, 3000}, Ops: 3}}}
	grouped := Sample{Size: 8, NS: []float64{9000}, Groups: []float64{5000, 6000, 7000}, Ops: 1}
	b := &fake{name: "b", log: &log, samples: []Sample{grouped}}
	c := &fake{name: "c", log: &log, absent: "libc-is-missing"}
	d := &fake{name: "d", log: &log, err: errors.New("out of order")}
	s := Spec{Test: "latency", Op: "send", Sizes: []int{8}, Rounds: 3}
	results := Measure(t.Context(), s, []System{a, b, c, d}, func(int, string) {})
	if want := []string{"a", "b", "d", "a", "b", "a", "b"}; !slices.Equal(log, want) {
		t.Errorf("ran %v, want %v", log, want)
	}
	want := []Result{
		{Test: "latency", System: "a", Op: "send", Size: 8, N: 9, P50: 2},
		{Test: "latency", System: "b", Op: "send", Size: 8, N: 3, P50: 6},
		{Test: "latency", System: "c", Op: "send", Size: 8, Absent: true, Package: "libc-is-missing"},
		{Test: "latency", System: "d", Op: "send", Size: 8, Error: "out of order"},
	}
	if !reflect.DeepEqual(results, want) {
		t.Errorf("got  %+v\nwant %+v", results, want)
	}
}

func TestTails(t *testing.T) {
	var ns []float64
	for i := range 10000 {
		ns = append(ns, float64(10000-i))
	}
	var r Result
	r.fill([]Sample{{NS: ns, Ops: len(ns)}})
	for name, got := range map[string][2]float64{"p50": {r.P50, 5}, "p99": {r.P99, 9.9}, "p99.9": {r.P999, 9.99}} {
		if math.Abs(got[0]-got[1]) > 0.01 {
			t.Errorf("%s: %v us, want %v", name, got[0], got[1])
		}
	}
}

func TestVerdicts(t *testing.T) {
	latency := func(us float64) Result { return Result{Test: "latency", P50: us, N: 1} }
	speed := func(mbs float64) Result { return Result{Test: "bandwidth", MBs: mbs, N: 1} }
	for _, c := range []struct {
		o       Outcome
		reached bool
		ratio   float64
	}{
		{Outcome{Limit: 1, Results: []Result{latency(2), latency(2)}}, true, 1},
		{Outcome{Limit: 1, Results: []Result{latency(3), latency(2)}}, false, 1.5},
		{Outcome{Limit: 1.2, AtLeast: true, Results: []Result{speed(12), speed(5), speed(10)}}, true, 1.2},
		{Outcome{Limit: 1.3, AtLeast: true, Results: []Result{speed(12), speed(5), speed(10)}}, false, 1.2},
		{Outcome{Limit: 5, AtLeast: true, Results: []Result{{Test: "rate", Msgs: 6e6, N: 1}}}, true, 0},
		{Outcome{Limit: 1, Results: []Result{latency(3), {Absent: true}}}, false, 0},
		{Outcome{Limit: 1, Results: []Result{{Test: "latency", Error: "broken"}, latency(1)}}, false, 0},
	} {
		c.o.judge()
		if c.o.Reached != c.reached || math.Abs(c.o.Ratio-c.ratio) > 1e-9 {
			t.Errorf("%+v", c.o)
		}
	}
	for _, target := range Targets() {
		for _, r := range target.Against {
			if r.System == nil || !r.System.Supports(r.Spec) {
				t.Errorf("target %s: %s does not support its part", target.Name, r.Label)
			}
		}
	}
	if _, err := FindTargets([]string{"send8", "what"}); err == nil || !strings.Contains(err.Error(), "what") {
		t.Errorf("a target that is not there: %v", err)
	}
}

func TestParseNAS(t *testing.T) {
	const out = " Class           =                        A\n" +
		" Mop/s total     =                   104.25\n" +
		" Mop/s/process   =                    52.13\n"
	s, err := parseNAS([]byte(out + " Verification    =               SUCCESSFUL\n"))
	if err != nil || len(s) != 1 || s[0].Msgs != 104.25e6 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{out + " Verification    =             UNSUCCESSFUL\n", out, " SUCCESSFUL"} {
		if s, err := parseNAS([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, s)
		}
	}
}

// TestLossesNeedALab: frames cannot be lost on this host itself, so nothing is measured as if they were.
func TestLossesNeedALab(t *testing.T) {
	t.Setenv(launch.EnvLab, "")
	_, err := losing(t.Context(), 0.01, func(context.Context) ([]Sample, error) {
		t.Error("it is measured")
		return nil, nil
	})
	if err == nil {
		t.Error("there is no error")
	}
}

func TestParseUCX(t *testing.T) {
	const out = `+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |       overhead (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
Final:                 100000      0.065     0.070     0.072      109.90     109.90    14404902    14404902
`
	s, err := parseUCX([]byte(out), 8, "latency")
	if err != nil || len(s.NS) != 1 || math.Abs(s.NS[0]-65) > 1e-9 || s.Ops != 100000 {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = parseUCX([]byte(out), 8, "bandwidth")
	if err != nil || math.Abs(s.MBs-109.90*1.048576) > 1e-9 || s.Msgs != 14404902 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := parseUCX([]byte("no luck\n"), 8, "latency"); err == nil {
		t.Error("made figures of nothing")
	}
}

// TestMeasurementsRun: every test of weft and of the standard library's sockets runs and has figures; outside of
// exploration, the first few.
func TestMeasurementsRun(t *testing.T) {
	specs := []Spec{
		{Test: "latency", Op: "send"}, {Test: "bandwidth", Op: "push"}, {Test: "alltoall", Op: "send", N: 4, Exchanges: 100},
		{Test: "latency", Op: "put"}, {Test: "latency", Op: "push"}, {Test: "latency", Op: "pull"},
		{Test: "latency", Op: "send", Blocked: true}, {Test: "latency", Op: "send", InPlace: true},
		{Test: "latency", Op: "send", Transport: "udp"}, {Test: "latency", Op: "send", Transport: "udp", Interrupted: true},
		{Test: "ipush", Op: "push"}, {Test: "ipush", Op: "ipush"}, {Test: "ipush", Op: "ipush-ring"},
		{Test: "bandwidth", Op: "send", Alloc: true}, {Test: "bandwidth", Op: "put"}, {Test: "rate", Op: "send"},
		{Test: "idle", Op: "recv"},
	}
	for i, s := range specs[:explore.Choose(3, len(specs))] {
		s.Sizes = []int{8}
		s.Rounds = 1
		s.Brief = true
		if s.Transport == "" {
			s.Transport = "auto"
		}
		systems := []System{Weft}
		if i == 0 {
			systems = append(systems, Find("tcp"), Find("unix"), Find("stream"))
		}
		for _, r := range Measure(t.Context(), s, systems, func(int, string) {}) {
			if v, unit, _ := r.Figure(); r.Error != "" || r.N == 0 || v <= 0 && s.Test != "idle" {
				t.Errorf("%+v: %s: %v %s, error %q", s, r.System, v, unit, r.Error)
			}
		}
	}
}
