package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// two are measurements of which less and more is better.
var two = []Measurement{{Name: "time", Unit: "us", Less: true}, {Name: "rate", Unit: "M/s"}}

// The sides are measured in turn, and each round's ratio is that of neighbours: a machine that becomes slower from
// round to round changes the figures, and not the ratios.
func TestRunInTurn(t *testing.T) {
	var order []string
	rows, err := Run(t.Context(), two, 3, func(_ context.Context, side Side, m Measurement) (float64, error) {
		order = append(order, m.Name+" "+side.String())
		slow := 1 + float64(len(order)-1)/4 // grows from round to round
		base := 10 * float64(int(slow))
		if side == New {
			return base * 0.8, nil
		}
		return base, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	round := "time old,time new,rate old,rate new"
	if have := strings.Join(order, ","); have != strings.Join([]string{round, round, round}, ",") {
		t.Error(have)
	}
	for i, verdict := range []string{"faster in every round", "slower in every round"} {
		r := rows[i]
		if r.Old != 20 || r.New != 16 || r.Ratio != 0.8 || r.Least != 0.8 || r.Most != 0.8 || len(r.Each) != 3 ||
			r.Verdict() != verdict {
			t.Errorf("%+v: %s", r, r.Verdict())
		}
	}
}

// The median, the least and the greatest ratio show the spread; one round the other way, and nothing is shown.
func TestSpread(t *testing.T) {
	news := []float64{9, 11, 8}
	rows, err := Run(t.Context(), two[:1], 3, func(_ context.Context, side Side, _ Measurement) (v float64, _ error) {
		if side == Old {
			return 10, nil
		}
		v, news = news[0], news[1:]
		return v, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := rows[0]; r.Ratio != 0.9 || r.Least != 0.8 || r.Most != 1.1 || r.Verdict() != "no difference shown" {
		t.Errorf("%+v: %s", r, r.Verdict())
	}
}

// A side that fails, or tells nothing, ends the run and is named.
func TestRunFails(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		v    float64
		err  error
		want string
	}{{1, broken, "time of the new commit: broken"}, {0, nil, "time of the new commit: a figure of 0 us"}} {
		_, err := Run(t.Context(), two, 2, func(_ context.Context, side Side, _ Measurement) (float64, error) {
			if side == Old {
				return 1, nil
			}
			return c.v, c.err
		})
		if err == nil || err.Error() != c.want || c.err != nil && !errors.Is(err, c.err) {
			t.Error(err)
		}
	}
}

func TestRead(t *testing.T) {
	perf := Measurement{Perf: "latency", Field: "p50_us"}
	bench := Measurement{Bench: "BenchmarkPath"}
	for _, c := range []struct {
		m    Measurement
		out  string
		want float64
	}{
		{perf, `{"system":"weft","p50_us":0.25,"p99_us":1}` + "\n" + `{"p50_us":9}`, 0.25},
		{bench, "goos: linux\nBenchmarkPath-2   \t  200000\t       318.5 ns/op\nPASS\n", 318.5},
		{bench, "BenchmarkPath-2 \t 1000\t 330 ns/op\nBenchmarkPath-2 \t 1000\t 318 ns/op\nBenchmarkPath-2 \t 1000\t 400 ns/op\n",
			318},
		{perf, `{"system":"weft"}`, 0},
		{perf, "what", 0},
		{bench, "PASS", 0},
	} {
		v, err := c.m.read([]byte(c.out))
		if v != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%q: %v, %v", c.out, v, err)
		}
	}
}

func TestFind(t *testing.T) {
	all, err := Find(nil)
	if err != nil || len(all) != len(Measurements) {
		t.Errorf("%d, %v", len(all), err)
	}
	some, err := Find([]string{"path", "send8"})
	if err != nil || len(some) != 2 || some[0].Name != "path" || some[1].Name != "send8" {
		t.Errorf("%+v, %v", some, err)
	}
	if _, err := Find([]string{"what"}); err == nil || !strings.Contains(err.Error(), "there are send8,") {
		t.Error(err)
	}
}

// Two commits of a repository are built and measured, the older one without a laboratory, and nothing is left.
func TestBuild(t *testing.T) {
	repo := t.TempDir()
	commit := func(dir string, figure int) { // a program that prints what weftlab perf -json would
		t.Helper()
		program := fmt.Sprintf("package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(`{\"p50_us\":%d}`) }\n",
			figure)
		for name, text := range map[string]string{"go.mod": "module x\n", dir + "/main.go": program} {
			file := filepath.Join(repo, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range []string{"init -q", "add -A", "-c user.name=x -c user.email=x@x.example commit -qm x"} {
			if err := run(t.Context(), repo, "git", strings.Fields(args)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	commit("cmd/weft", 4)
	commit("lab/cmd/weftlab", 3)
	b, err := Build(t.Context(), repo, "HEAD~1", "HEAD", false)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Run(t.Context(), Measurements[:1], 2, b.Measure)
	if err != nil || rows[0].Old != 4 || rows[0].New != 3 {
		t.Errorf("%+v, %v", rows, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	out, err := exec.Command("git", "-C", repo, "worktree", "list").Output()
	if err != nil || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
		t.Error(err)
	}
	if _, err := Build(t.Context(), repo, "HEAD", "nowhere", false); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Error(err)
	}
}
