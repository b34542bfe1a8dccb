package swarm

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"weft/failure"
	"weft/internal/engine/link"
)

// Shrink looks for the smallest run that still fails in the same way: the fewest
// nodes, operations and faults, perhaps of another seed. It takes about as long as it is given.
func Shrink(o Options, kind string, patience time.Duration) Options {
	end := time.Now().Add(patience)
	fails := func(o Options) bool {
		v := Run(o, nil).Violation
		return v != nil && v.Kind == kind
	}
	for {
		smaller := false
		for _, try := range o.smaller() {
			if time.Now().After(end) {
				return o
			}
			if fails(try) {
				o = try
				smaller = true
				break
			}
		}
		if !smaller {
			return o
		}
	}
}

// smaller returns runs that are a little simpler, the boldest first.
func (o Options) smaller() (tries []Options) {
	with := func(change func(*Options)) {
		t := o
		if change(&t); t != o {
			tries = append(tries, t)
		}
	}
	for _, p := range []func(*Options) *int{
		func(o *Options) *int { return &o.Crashes }, func(o *Options) *int { return &o.Partitions },
		func(o *Options) *int { return &o.Pauses }, func(o *Options) *int { return &o.Clogs },
		func(o *Options) *int { return &o.Suspends }, func(o *Options) *int { return &o.Severs },
		func(o *Options) *int { return &o.Drift },
		func(o *Options) *int { return &o.Narrows },
		func(o *Options) *int { return &o.Gang },
	} {
		with(func(o *Options) { *p(o) = 0 })
		with(func(o *Options) { *p(o) = max(*p(o)-1, 0) })
	}
	for _, p := range []func(*Options) *float64{
		func(o *Options) *float64 { return &o.Loss }, func(o *Options) *float64 { return &o.Duplicate },
		func(o *Options) *float64 { return &o.Reorder }, func(o *Options) *float64 { return &o.Corrupt },
		func(o *Options) *float64 { return &o.Replay }, func(o *Options) *float64 { return &o.Full },
		func(o *Options) *float64 { return &o.Cancel },
	} {
		with(func(o *Options) { *p(o) = 0 })
	}
	with(func(o *Options) { o.Backoff = false })
	with(func(o *Options) { o.Beats = false })
	with(func(o *Options) { o.Silent = min(o.Silent, 1) })
	with(func(o *Options) { o.Silent = 0 })
	with(func(o *Options) { o.Threads = 1 })
	with(func(o *Options) { o.Large = false })
	with(func(o *Options) {
		o.FanIn = false
		o.FanOut = false
	})
	with(func(o *Options) { o.Restart = false })
	with(func(o *Options) { o.Immortal = false })
	with(func(o *Options) { o.Ports = 1 })
	with(func(o *Options) { o.Depth = 1 })
	// With fewer nodes or operations chance falls differently: other seeds too.
	for other := range uint64(8) {
		if o.Nodes > 2 {
			with(func(o *Options) {
				o.Nodes = o.Nodes - 1
				o.Seed = o.Seed + other
			})
		}
		if o.Ops > 1 {
			with(func(o *Options) {
				o.Ops = o.Ops / 2
				o.Seed = o.Seed + other
			})
			with(func(o *Options) {
				o.Ops = o.Ops * 9 / 10
				o.Seed = o.Seed + other
			})
		}
	}
	return tries
}

// Set changes options by name: "nodes=3,loss=0.1,think=20us".
func (o *Options) Set(text string) error {
	if text == "" {
		return nil
	}
	v := reflect.ValueOf(o).Elem()
	for _, change := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(change, "=")
		f := v.FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, name) })
		if !ok || !f.IsValid() {
			return &failure.OptionError{Option: "set", Value: change,
				Takes: "NAME=VALUE with a name of " + strings.Join(names(v.Type()), ", ")}
		}
		if err := set(f, value); err != nil {
			return &failure.OptionError{Option: "set", Value: change,
				Takes: "a value of type " + f.Type().String() + " for " + name}
		}
	}
	if o.Nodes < 2 || o.Nodes > 64 || o.Ports < 1 || o.Ports > 64 || o.Depth < 1 || o.Ops < 0 || o.MTU < 256 ||
		o.RecvBuffer < 64<<10 || o.SendBuffer < 64<<10 || o.Threads < 1 || o.Silent >= o.Nodes || o.MaxQueue < 1 ||
		o.Think < time.Microsecond {
		return &failure.OptionError{Option: "set", Value: text,
			Takes: "2 to 64 nodes, 1 to 64 ports, a depth and a maxqueue of at least 1, an mtu of at least 256, a " +
				"recvbuffer and a sendbuffer of at least 65536, at least 1 of threads, fewer silent than nodes, a think time " +
				"of at least 1us"}
	}
	return nil
}

// names returns the names of a struct's fields as options have them.
func names(t reflect.Type) (list []string) {
	for i := range t.NumField() {
		list = append(list, strings.ToLower(t.Field(i).Name))
	}
	return list
}

// set sets an option from its text, as String writes it. It knows the kinds of the fields of Options.
func set(f reflect.Value, text string) error {
	var err error
	switch f.Interface().(type) {
	case time.Duration:
		var d time.Duration
		d, err = time.ParseDuration(text)
		f.SetInt(int64(d))
	case link.Guard:
		g, ok := link.ParseGuard(text)
		f.SetInt(int64(g))
		if !ok {
			err = errors.New("there is no such guard")
		}
	case int:
		var n int
		n, err = strconv.Atoi(text)
		f.SetInt(int64(n))
		if n < 0 {
			err = errors.New("it is negative")
		}
	case uint64:
		var n uint64
		n, err = strconv.ParseUint(text, 0, 64)
		f.SetUint(n)
	case float64:
		var x float64
		x, err = strconv.ParseFloat(text, 64)
		f.SetFloat(x)
		if !(x >= 0 && x <= 1) {
			err = errors.New("it is no probability")
		}
	case bool:
		var b bool
		b, err = strconv.ParseBool(text)
		f.SetBool(b)
	}
	return err
}

// Changes returns what to Set in other options to get these.
func (o Options) Changes(from Options) string {
	a := reflect.ValueOf(o)
	b := reflect.ValueOf(from)
	var list []string
	for i, name := range names(a.Type()) {
		if a.Field(i).Interface() != b.Field(i).Interface() {
			list = append(list, fmt.Sprintf("%s=%v", name, a.Field(i).Interface()))
		}
	}
	return strings.Join(list, ",")
}

// String tells what came of a run.
func (r Result) String() string {
	s := fmt.Sprintf("outcome\n  time         %v\n  events       %d\n  packets      %d sent, %d delivered, %d lost, "+
		"%d repeated, %d reordered, %d damaged, %d replayed, %d cut off\n",
		time.Duration(r.Time), r.Events, r.Network.Sent, r.Network.Delivered, r.Network.Lost, r.Network.Duplicated,
		r.Network.Reordered, r.Network.Damaged, r.Network.Replayed, r.Network.Cut)
	s += fmt.Sprintf("  messages     %d received, %d refused\n  memory       %d operations served\n  resent       %d "+
		"packets\n  deaths       %d noticed\n  hash         %#016x\n",
		r.Messages, r.Refused, r.Operations, r.Resent, r.Deaths, r.Hash)
	if r.Violation != nil {
		return s + fmt.Sprintf("VIOLATION: %v\n", r.Violation)
	}
	return s + "  all was well\n"
}
