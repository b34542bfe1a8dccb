package stress

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"weft"
)

// The environment of a rank that is a process.
const (
	envSeed  = "WEFT_STRESS_SEED"
	envLine  = "WEFT_STRESS_LINE"  // the director's socket
	envOnly  = "WEFT_STRESS_ONLY"  // kinds of scenes, with commas; empty means all
	envSpoil = "WEFT_STRESS_SPOIL" // what a rank does wrong, to test the checks
)

// Rank is called first in main: if the process is a rank of a stressed job it is one,
// and true is returned.
func Rank() bool {
	beEnds()
	path := os.Getenv(envLine)
	if path == "" {
		return false
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "stress:", err)
		os.Exit(1)
	}
	line := newLine(conn)
	seed, _ := strconv.ParseUint(os.Getenv(envSeed), 10, 64)
	r := newRank(context.Background(), seed, os.Getenv(envOnly), os.Getenv(envSpoil), line.tell)
	if r.returns() {
		weft.Main(func(ctx context.Context, p *weft.Proc) error {
			r.process(p, line)
			r.tell(note{Kind: noteBye, Rank: p.Rank()})
			return nil
		})
		return true
	}
	p, err := weft.Join(context.Background(), nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, "stress:", err)
		os.Exit(1)
	}
	r.process(p, line)
	r.leave()
	r.allEnded()
	r.tell(note{Kind: noteBye, Rank: p.Rank()})
	return true
}

// returns reports whether the ranks of this job end when their functions return. Else they close their Procs.
func (r *rank) returns() bool { return chance(r.seed, "main").IntN(2) == 0 }

// process plays the rank of a process, which ends with its line.
func (r *rank) process(p *weft.Proc, line *line) {
	r.p = p
	go func() {
		_ = line.listen(r.hear)
		os.Exit(9) // nobody directs us any more
	}()
	go func() { // tells the director how much has been done, ten times a second
		for range time.Tick(100 * time.Millisecond) {
			r.tell(note{Kind: noteBeat, Rank: p.Rank(), N: r.progress.Load()})
		}
	}()
	r.run()
}
