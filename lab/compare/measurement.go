package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A Measurement is a figure that both commits can tell: of weftlab perf, or of a benchmark of the root package.
type Measurement struct {
	Name, Unit string
	Less       bool   // less is better
	Perf       string // the arguments of weftlab perf; or empty
	Field      string // of its JSON
	Bench      string // the benchmark's name, if Perf is empty
}

// Measurements are those that there are, in the order in which they run.
var Measurements = []Measurement{
	{Name: "send8", Unit: "us", Less: true, Perf: "latency -size 8", Field: "p50_us"},
	{Name: "send8k", Unit: "us", Less: true, Perf: "latency -size 8192", Field: "p50_us"},
	{Name: "push8", Unit: "us", Less: true, Perf: "latency -op push -size 8", Field: "p50_us"},
	{Name: "put8", Unit: "us", Less: true, Perf: "latency -op put -size 8", Field: "p50_us"},
	{Name: "ipush8", Unit: "us", Less: true, Perf: "ipush -op ipush -size 8", Field: "p50_us"},
	{Name: "rate8", Unit: "messages/s", Perf: "rate -size 8", Field: "msg_s"},
	{Name: "send1m", Unit: "MB/s", Perf: "bandwidth -size 1048576", Field: "mb_s"},
	{Name: "udp64", Unit: "us", Less: true, Perf: "latency -transport udp -size 64", Field: "p50_us"},
	{Name: "barrier2", Unit: "us", Less: true, Perf: "barrier -n 2 -algorithm auto", Field: "p50_us"},
	{Name: "path", Unit: "ns", Less: true, Bench: "BenchmarkPath"},
}

// Find returns the measurements of these names, in this order, and all if there are none.
func Find(names []string) ([]Measurement, error) {
	if len(names) == 0 {
		return Measurements, nil
	}
	var found []Measurement
	var known []string
	for _, m := range Measurements {
		known = append(known, m.Name)
	}
	for _, name := range names {
		i := len(found)
		for _, m := range Measurements {
			if m.Name == name {
				found = append(found, m)
			}
		}
		if len(found) == i {
			return nil, fmt.Errorf("there is no measurement %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	return found, nil
}

// args returns the arguments of the program that measures.
func (m Measurement) args() []string {
	if m.Perf == "" {
		return []string{
			"-test.run", "^$", "-test.bench", "^" + m.Bench + "$", "-test.benchtime", fmt.Sprintf("%dx", rounds),
			"-test.count", strconv.Itoa(counts),
		}
	}
	return append(strings.Fields("perf "+m.Perf), "-rounds", "1", "-json")
}

// nanoseconds finds the figure of a benchmark.
var nanoseconds = regexp.MustCompile(`(?m)^Benchmark\S+\s+\d+\s+([0-9.]+) ns/op`)

// read finds the figure in what the program printed: of several sizes it is the first, and of several runs of a
// benchmark the least.
func (m Measurement) read(out []byte) (float64, error) {
	if m.Perf == "" {
		least := math.Inf(1)
		for _, found := range nanoseconds.FindAllSubmatch(out, -1) {
			v, err := strconv.ParseFloat(string(found[1]), 64)
			if err != nil {
				return 0, err
			}
			least = min(least, v)
		}
		if math.IsInf(least, 1) {
			return 0, fmt.Errorf("no ns/op in %q", out)
		}
		return least, nil
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		return 0, fmt.Errorf("%q: %w", line, err)
	}
	v, ok := fields[m.Field].(float64)
	if !ok {
		return 0, fmt.Errorf("no %s in %q", m.Field, line)
	}
	return v, nil
}
