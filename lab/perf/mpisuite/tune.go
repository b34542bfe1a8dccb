package mpisuite

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weft/mpi"
)

// tuned are the benchmarks by which the algorithms of operations are compared.
var tuned = map[mpi.Operation]string{
	mpi.OpBarrier: "Barrier", mpi.OpBroadcast: "Bcast", mpi.OpReduce: "Reduce", mpi.OpAllReduce: "Allreduce",
	mpi.OpScan: "Scan", mpi.OpExscan: "Exscan", mpi.OpReduceScatter: "Reduce_scatter", mpi.OpGather: "Gather",
	mpi.OpScatter: "Scatter", mpi.OpAllGather: "Allgather", mpi.OpAllToAll: "Alltoall",
}

// Tune measures each algorithm of package mpi with each number of bytes, and returns the tuning table in which the
// fastest ones stand.
func Tune(ctx context.Context, cfg *Config, show func(round int, system string)) (string, error) {
	dir, err := os.MkdirTemp("", "weft-mpi-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	own := *cfg
	t := task{Sizes: cfg.Sizes, Count: cfg.Count}
	for _, op := range slices.Sorted(maps.Keys(tuned)) {
		if cfg.Only == nil || cfg.Only.MatchString(tuned[op]) {
			t.Names = append(t.Names, tuned[op])
		}
	}
	times := map[string][]float64{}
	most := 0
	for _, names := range mpi.Algorithms() {
		most = max(most, len(names))
	}
	for round := range cfg.Rounds {
		for i := range most {
			table := filepath.Join(dir, fmt.Sprint(i))
			if err := os.WriteFile(table, []byte(only(i)), 0o600); err != nil {
				return "", err
			}
			show(round, fmt.Sprintf("algorithm %d", i))
			own.env = []string{"WEFT_MPI_TUNING=" + table}
			samples, err := own.once(ctx, dir, "weft", t)
			if err != nil {
				return "", err
			}
			for _, s := range samples {
				key := fmt.Sprint(s.Bench, " ", s.Size, " ", i)
				times[key] = append(times[key], s.Micros)
			}
		}
	}
	return table(&own, medians(times)), nil
}

// only returns the tuning table in which each operation has its i-th algorithm, if it has so many.
func only(i int) (text string) {
	for op, names := range mpi.Algorithms() {
		if i < len(names) {
			text += fmt.Sprintf("any %v any any %s\n", op, names[i])
		}
	}
	return text
}

// table returns the tuning table for the least times, which have the benchmark, the bytes and the number of the
// algorithm as their keys.
func table(cfg *Config, times map[string]float64) string {
	var b strings.Builder
	place := "network"
	if cfg.Transport == "auto" || cfg.Transport == "shm" {
		place = "host"
	}
	fmt.Fprintf(&b, "# Measured with %d ranks, transport %s. The first line that applies counts.\n", cfg.Ranks, cfg.Transport)
	fmt.Fprintf(&b, "# place operation members bytes algorithm\n")
	for _, op := range slices.Sorted(maps.Keys(tuned)) {
		names := mpi.Algorithms()[op]
		sizes := cfg.Sizes
		if op == mpi.OpBarrier {
			sizes = []int{0}
		}
		var best []int
		for _, size := range sizes {
			at := -1
			for i := range names {
				us, ok := times[fmt.Sprint(tuned[op], " ", size, " ", i)]
				if ok && (at < 0 || us < times[fmt.Sprint(tuned[op], " ", size, " ", at)]) {
					at = i
				}
			}
			best = append(best, at)
		}
		for k, at := range best {
			if at < 0 || k+1 < len(best) && best[k+1] == at {
				continue
			}
			limit := "any"
			if k+1 < len(best) {
				limit = fmt.Sprint(int(math.Sqrt(float64(sizes[k]) * float64(sizes[k+1]))))
			}
			fmt.Fprintf(&b, "%s %v any %s %s\n", place, op, limit, names[at])
		}
	}
	return b.String()
}
