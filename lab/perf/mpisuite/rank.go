package mpisuite

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"weft"
	"weft/mpi"
)

// envTask is the environment variable that makes an executable a rank.
const envTask = "WEFT_MPI_SUITE"

// A task is what the ranks of one run measure. The C program gets the same as arguments.
type task struct {
	Names []string
	Sizes []int
	Count int    // repetitions of messages of up to 8 KiB; of longer ones fewer
	File  string // that may be written
	Alloc bool   // elements lie in memory of mpi.Alloc
}

// A Sample is one result of one run.
type Sample struct {
	Bench   string  `json:"bench"`
	Size    int     `json:"size"`    // bytes, or 0
	Micros  float64 `json:"us"`      // of one operation, or one message
	Work    float64 `json:"work"`    // of programs: operations on numbers, or bytes
	Overlap float64 `json:"overlap"` // of operations that only begin: percent of their time behind computing
}

// Rank runs a rank's part if this process is a rank of the suite, and reports whether it was.
func Rank() bool {
	text := os.Getenv(envTask)
	if text == "" {
		return false
	}
	os.Unsetenv(envTask)
	weft.Main(mpi.Program(func(ctx context.Context, c *mpi.Comm) {
		var t task
		mpi.Check(json.Unmarshal([]byte(text), &t))
		t.run(ctx, c, os.Stdout)
	}))
	return true
}

// run measures all benchmarks of a task.
func (t *task) run(ctx context.Context, c *mpi.Comm, out io.Writer) {
	enc := json.NewEncoder(out)
	for _, b := range benches() {
		if !slices.Contains(t.Names, b.name) {
			continue
		}
		sizes := t.Sizes
		if !b.sized {
			sizes = []int{0}
		}
		for _, size := range sizes {
			e := newEnv(ctx, c, size, t.Alloc)
			e.repeats = t.Count > 10
			e.file = t.File
			s := b.measure(e, max(t.Count/max(size/8192, 1)/max(b.many/2, 1), 4))
			s.Size = size
			if b.work != nil {
				s.Work = b.work(size, c.Size())
			}
			e.free()
			if c.Rank() == 0 {
				mpi.Check(enc.Encode(s))
			}
		}
	}
}

// measure repeats the operation of a benchmark.
func (b *bench) measure(e *env, count int) Sample {
	s := Sample{Bench: b.name}
	if e.n%2 != 0 && strings.HasPrefix(b.name, "M") {
		mpi.Check(fmt.Errorf("%s needs an even number of ranks, not %d", b.name, e.n))
	}
	op := func() {}
	if b.ranks == 0 || e.me < b.ranks {
		op = b.make(e)
	}
	begins := b.name[0] == 'I'
	once := op
	if begins {
		once = func() { op(); mpi.Must(e.last.Wait(e.ctx)) }
	}
	pure := e.timed(count, once)
	s.Micros = pure / float64(b.many)
	if begins {
		work := calibrate(pure)
		computing := e.timed(count, func() { compute(work) })
		all := e.timed(count, func() { op(); compute(work); mpi.Must(e.last.Wait(e.ctx)) })
		s.Overlap = min(max(100*(1-(all-computing)/pure), 0), 100)
	}
	return s
}

// atLeast is for how many microseconds an operation is repeated, at least: what else happens on a machine, such as the
// collection of garbage, takes a millisecond now and then.
const atLeast = 20_000

// timed returns how many microseconds an operation takes, at the slowest rank.
func (e *env) timed(count int, op func()) float64 {
	for {
		for range count/10 + 2 {
			op()
		}
		mpi.Check(e.c.Barrier(e.ctx))
		began := time.Now()
		for range count {
			op()
		}
		took := []float64{time.Since(began).Seconds() * 1e6}
		mpi.Check(mpi.AllReduce(e.ctx, e.c, took, mpi.Max))
		if took[0] >= atLeast || !e.repeats {
			return took[0] / float64(count)
		}
		count = int(float64(count)*min(atLeast/took[0], 100)) + 1
	}
}

var sink float64

// compute works on numbers for as many rounds.
func compute(rounds int) {
	x := 1.0
	for range rounds {
		x = x*0.999999 + 0.000001
	}
	sink = x
}

// calibrate returns for how many rounds compute takes some microseconds.
func calibrate(micros float64) int {
	const rounds = 1 << 20
	began := time.Now()
	compute(rounds)
	return int(micros / (time.Since(began).Seconds() * 1e6) * rounds)
}
