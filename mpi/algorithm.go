package mpi

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// An algorithm is a way to carry an operation out.
type algorithm struct {
	name string
	run  func(k *call, ctx context.Context) error // by messages
	way  *way                                     // on the board, instead
	far  bool                                     // the elements stay in the memory of their members
	fits func(k *call) bool                       // says the same at all members; nil: it always fits
}

// choose has an operation carried out by an algorithm, and reports whether that is on the board.
func (k *call) choose(a *algorithm) bool {
	k.way = a.way
	k.far = a.far
	if a.way != nil && k.varied {
		k.way = &boardWays.varied
	}
	return k.way != nil
}

// algorithms has the ways to carry out each operation. The first one always fits.
var algorithms [operations][]algorithm

func init() {
	type run = func(*call, context.Context) error
	always := func(name string, r run) algorithm { return algorithm{name: name, run: r} }
	some := func(name string, r run, fits func(*call) bool) algorithm {
		return algorithm{name: name, run: r, fits: fits}
	}
	board := func(w way) algorithm { return algorithm{name: "board", way: &w, fits: onBoard} }
	direct := func(w way) algorithm { return algorithm{name: "direct", way: &w, far: true, fits: farFits} }
	gather := []algorithm{
		always("ring", (*call).allGatherRing), some("bruck", (*call).allGatherBruck, alike), board(boardWays.gather),
		direct(boardWays.gather),
	}
	algorithms = [operations][]algorithm{
		OpBarrier: {always("dissemination", (*call).barrier), board(boardWays.barrier)},
		OpBroadcast: {
			always("tree", (*call).broadcastTree), some("scatter", (*call).broadcastScattered, divisible),
			board(boardWays.broadcast), direct(boardWays.broadcast),
		},
		OpReduce: {always("tree", (*call).reduceTree), board(boardWays.reduce), direct(boardWays.reduce)},
		OpAllReduce: {
			always("doubling", (*call).allReduceDoubling), some("parts", (*call).allReduceParts, divisible),
			board(boardWays.allReduce), direct(boardWays.allReduce),
		},
		OpScan:   {always("doubling", (*call).scan), board(boardWays.reduce)},
		OpExscan: {always("doubling", (*call).scan), board(boardWays.reduce)},
		OpReduceScatter: {
			always("parts", (*call).reduceScatter), board(boardWays.reduceScatter), direct(boardWays.reduceScatter),
		},
		OpGather:    {always("linear", (*call).gather), board(boardWays.gather), direct(boardWays.gather)},
		OpScatter:   {always("linear", (*call).scatter), board(boardWays.scatter), direct(boardWays.scatter)},
		OpAllGather: gather,
		OpAllToAll: {
			always("exchange", (*call).allToAll), some("bruck", (*call).allToAllBruck, alike), board(boardWays.allToAll),
			direct(boardWays.allToAll),
		},
		OpNeighborAllGather: {always("exchange", (*call).gatherNeighbors)},
		OpNeighborAllToAll:  {always("exchange", (*call).exchangeNeighbors)},
		OpSplit:             gather,
	}
}

// Algorithms returns the names of the algorithms of each operation, as a tuning table has them (WEFT_MPI_TUNING).
func Algorithms() map[Operation][]string {
	all := map[Operation][]string{}
	for op, list := range algorithms {
		for _, a := range list {
			all[Operation(op)] = append(all[Operation(op)], a.name)
		}
	}
	delete(all, OpSplit) // as AllGather
	return all
}

// divisible reports whether each member can have a part of the elements.
func divisible(k *call) bool { return k.head.length >= uint64(k.c.group.n) }

// alike reports whether the members' parts have one length.
func alike(k *call) bool { return !k.varied }

// algorithm returns how an operation is carried out: by the first rule that applies.
func (k *call) algorithm() *algorithm {
	of := algorithms[k.op]
	if len(of) == 1 || k.c.group.n == 1 {
		return &of[0]
	}
	n := k.c.group.n
	bytes := int(k.head.length) * int(k.head.size)
	if k.varied {
		bytes = 0 // the members need not know
	}
	if k.op == OpAllToAll || k.op == OpReduceScatter {
		bytes /= n
	}
	apart := k.c.board != nil && k.c.board.apart
	for i := range k.c.w.rules[k.op] {
		r := &k.c.w.rules[k.op][i]
		if r.apart && !apart {
			continue
		}
		if a := &of[r.algorithm]; n <= r.members && bytes <= r.bytes && (a.fits == nil || a.fits(k)) {
			return a
		}
	}
	return &of[0]
}

// A rule is a line of the tuning table: which algorithm an operation takes among up to so many members with up to so
// many bytes. The bytes are those of the slice that a member gives; of AllToAll and ReduceScatter those for one member.
type rule struct {
	members, bytes, algorithm int
	apart                     bool // only if processors of the members share no cache
}

type rules [operations][]rule

// tuning is the table for ranks of one host, and for others, that "weftlab mpi -tune" has written.
//
//go:embed tuning.txt
var tuning string

// envTuning is the environment variable that names a file with another table.
const envTuning = "WEFT_MPI_TUNING"

// readRules reads the tuning table of a job. All its ranks must have the same one.
func readRules(oneHost bool) (r rules, err error) {
	text := tuning
	if name := os.Getenv(envTuning); name != "" {
		b, err := os.ReadFile(name)
		if err != nil {
			return r, fmt.Errorf("mpi: %s: %w", envTuning, err)
		}
		text = string(b)
	}
	return parseRules(text, oneHost)
}

// parseRules reads a tuning table. A line has a place, an operation, up to how many members and bytes, and an
// algorithm; # begins a comment. The first line that applies to a call counts. A place is host, network or any, or
// apart: members of one host, of which two have processors that share no cache.
func parseRules(text string, oneHost bool) (all rules, err error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		wrong := func(what string) error {
			return fmt.Errorf("mpi: line %d of the tuning table, %q: %s", number, lines.Text(), what)
		}
		if len(f) != 5 {
			return all, wrong("it must have a place, an operation, members, bytes and an algorithm")
		}
		if !slices.Contains([]string{"any", "host", "apart", "network"}, f[0]) {
			return all, wrong("the place must be any, host, apart or network")
		}
		op := slices.IndexFunc(shapes[:], func(s shape) bool { return s.name == f[1] })
		if op < 0 {
			return all, wrong("there is no such operation")
		}
		r := rule{members: 1<<63 - 1, bytes: 1<<63 - 1, apart: f[0] == "apart"}
		for i, limit := range []*int{&r.members, &r.bytes} {
			if text := f[2+i]; text != "any" {
				if *limit, err = strconv.Atoi(text); err != nil || *limit < 0 {
					return all, wrong(fmt.Sprintf("%q must be a number, or any", text))
				}
			}
		}
		r.algorithm = slices.IndexFunc(algorithms[op], func(a algorithm) bool { return a.name == f[4] })
		if r.algorithm < 0 {
			return all, wrong(fmt.Sprintf("%s has no algorithm %s", f[1], f[4]))
		}
		if f[0] == "any" || (f[0] != "network") == oneHost {
			all[op] = append(all[op], r)
		}
	}
	all[OpSplit] = all[OpAllGather]
	return all, lines.Err()
}
