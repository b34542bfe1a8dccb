package mpisuite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"weft"
	"weft/mpi"
)

func TestMain(m *testing.M) {
	if !Rank() {
		os.Exit(m.Run())
	}
}

// TestSuite: each benchmark ends, with each number of bytes, and has a result.
func TestSuite(t *testing.T) {
	for _, n := range []int{2, 4} {
		var out strings.Builder
		all := task{Names: Names(), Sizes: []int{1, 40_000}, Count: 2, File: filepath.Join(t.TempDir(), "file")}
		err := weft.Local(t.Context(), n, mpi.Program(func(ctx context.Context, c *mpi.Comm) { all.run(ctx, c, &out) }))
		if err != nil {
			t.Fatal(err)
		}
		got, err := parse([]byte(out.String()))
		if want := 2*len(Names()) - 5; err != nil || len(got) != want { // five have no length
			t.Errorf("%d ranks: %d results, not %d: %v", n, len(got), want, err)
		}
		for _, s := range got {
			if s.Micros <= 0 {
				t.Errorf("%+v", s)
			}
		}
	}
}

// TestSource: the program in C has the same benchmarks.
func TestSource(t *testing.T) {
	text := string(source)
	in := regexp.MustCompile(`\{"(\w+)", \d, \d, \w+, \w+`).FindAllStringSubmatch(text, -1)
	if len(in) != len(Names()) {
		t.Errorf("%d in C, %d in Go", len(in), len(Names()))
	}
	for i, name := range Names() {
		if i < len(in) && in[i][1] != name {
			t.Errorf("%s in C, %s in Go", in[i][1], name)
		}
	}
}

// TestResults: medians of each system, and the ratio to the fastest peer.
func TestResults(t *testing.T) {
	sample := func(us, hidden float64) Sample { return Sample{"IBcast", 8, us, 0, hidden} }
	got := results(map[string][]Sample{
		"weft":    {sample(4, 10), sample(2, 20), sample(3, 30)},
		"openmpi": {sample(2, 0), sample(2, 0), sample(9, 0)},
		"mpich":   {sample(5, 0)},
	})
	text, err := json.Marshal(got)
	const want = `[{"bench":"IBcast","size":8,"us":{"mpich":5,"openmpi":2,"weft":3},` +
		`"overlap":{"mpich":0,"openmpi":0,"weft":20},"work":0,"ratio":1.5}]`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

// TestTable: the fastest algorithm of each length stands in the tuning table, which the package reads.
func TestTable(t *testing.T) {
	times := map[string]float64{}
	for _, size := range []int{8, 1024, 1 << 20} {
		for i := range mpi.Algorithms()[mpi.OpAllReduce] {
			times[fmt.Sprint("Allreduce ", size, " ", i)] = float64(i)
		}
	}
	times["Allreduce 1048576 1"] = -1
	got := table(&Config{Ranks: 4, Transport: "tcp", Sizes: []int{8, 1024, 1 << 20}}, times)
	if !strings.HasSuffix(got, "network AllReduce any 32768 doubling\nnetwork AllReduce any any parts\n") {
		t.Error(got)
	}
	file := filepath.Join(t.TempDir(), "table")
	if err := os.WriteFile(file, []byte(got+only(1)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WEFT_MPI_TUNING", file)
	if err := weft.Local(t.Context(), 2, mpi.Program(func(context.Context, *mpi.Comm) {})); err != nil {
		t.Error(err)
	}
}
