package sim

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"weft/failure"
)

// topologies describes what ParseTopology takes.
const topologies = "crossbar, ring, torus:ROWSxCOLUMNS (or more dimensions), or fattree:ARITY, " +
	"for as many machines as the job has ranks"

// Switches returns the network of switches that text describes, for n machines. It is nil unless the program imports
// package weft/lab/switches, whose init sets it.
var Switches func(text string, n int, w Wire) (Topology, error)

// errNoSwitches reports a program without that package.
var errNoSwitches = errors.New("networks of switches are in the laboratory: " +
	`import _ "weft/lab/switches" in the program`)

// openSwitches returns a network of switches, if this program knows any.
func openSwitches(text string, n int, w Wire) (t Topology, err error) {
	err = errNoSwitches
	if Switches != nil {
		t, err = Switches(text, n, w)
	}
	var option *failure.OptionError
	if err != nil && !errors.As(err, &option) {
		err = &failure.OptionError{Option: "-topology", Value: text, Err: err}
	}
	return t, err
}

// ParseTopology returns the network that text describes, for n machines.
func ParseTopology(text string, n int, w Wire) (Topology, error) {
	if strings.HasPrefix(text, "file:") || strings.HasPrefix(text, "switch-") {
		return openSwitches(text, n, w)
	}
	bad := &failure.OptionError{Option: "-topology", Value: text, Takes: topologies}
	kind, size, _ := strings.Cut(text, ":")
	var dims []int
	if size != "" {
		for _, s := range strings.Split(size, "x") {
			d, err := strconv.Atoi(s)
			if err != nil || d < 1 || d > 1<<24 {
				return nil, bad
			}
			dims = append(dims, d)
		}
	}
	product := 1
	for _, d := range dims {
		product *= d
		if product > 1<<24 {
			return nil, bad
		}
	}
	switch {
	case kind == "crossbar" && size == "":
		return Crossbar(n, w), nil
	case kind == "ring" && (size == "" || len(dims) == 1 && dims[0] == n):
		return Torus(w, n), nil
	case kind == "torus" && len(dims) > 1 && product == n:
		return Torus(w, dims...), nil
	case kind == "torus" && len(dims) > 1:
		bad.Takes = fmt.Sprintf("as many machines as there are ranks: %s has %d, the job %d", text, product, n)
	case kind == "fattree" && len(dims) == 1 && dims[0] > 1:
		return FatTree(w, dims[0], n), nil
	}
	return nil, bad
}

// ParseWire returns the wire that text describes by its bandwidth, its delay and, optionally, the bytes that may wait
// for it, such as "10Gbps,1us,64KiB". "0" stands for no limit.
func ParseWire(text string) (w Wire, err error) {
	const takes = "BANDWIDTH,DELAY[,QUEUE], such as 10Gbps,1us or 1Gbps,50us,64KiB; 0 is no limit"
	bad := &failure.OptionError{Option: "-link", Value: text, Takes: takes}
	parts := strings.Split(text, ",")
	if len(parts) < 2 || len(parts) > 3 {
		return w, bad
	}
	b, ok := quantity(parts[0], map[string]float64{"bps": 1, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12})
	if !ok || b < 0 || b > 1e15 {
		return w, bad
	}
	w.Bandwidth = int64(b)
	if w.Delay, err = time.ParseDuration(parts[1]); err != nil || w.Delay < 0 || w.Delay > time.Hour {
		return w, bad
	}
	if len(parts) == 3 {
		q, ok := quantity(parts[2], map[string]float64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30})
		if !ok || q < 0 || q > 1<<40 {
			return w, bad
		}
		w.Queue = int(q)
	}
	return w, nil
}

// quantity parses a number with a unit. 0 needs no unit.
func quantity(text string, units map[string]float64) (float64, bool) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) {
		return 0, false
	}
	unit, ok := units[text[len(number):]]
	return v * unit, ok || v == 0 && len(number) == len(text)
}
