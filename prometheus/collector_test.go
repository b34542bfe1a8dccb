package prometheus

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"weft/internal/counters"
	"weft/internal/counters/directory"
	"weft/stream"
)

// page makes the page of a rank of job 1, with everything in it that there can be.
func page(t *testing.T, rank, pid int) *directory.File {
	t.Helper()
	f, err := directory.Create(1, counters.Identity{Rank: rank, Size: 2, PID: pid, Host: "here", Program: "test",
		Started: 5e9})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	n := f.Page.Node
	n.Memory = 1000
	n.Dropped.Forged = 3
	n.Transports[0].Name("udp")
	n.Transports[0].Joined = 4
	n.Transports[0].Overflows = 2
	n.Waits[counters.Receive] = counters.Wait{Count: 7, Slept: 2, Polled: 1.5e9, Asleep: 3e9}
	n.Fail(6e9, 0, "it is gone", 2)
	p := f.Page.Peer(1 - rank)
	p.State = counters.Connected
	p.Transport = 1
	p.Window = 256
	p.RTT = 2e6
	p.Sent = counters.Flow{Messages: 1, Accesses: 2, Packets: 3, Bytes: 400, Resent: 5, Lost: 6, Refused: 7, Resumed: 8}
	for _, ns := range []int64{1000, 5000, 5000, 1e12} {
		p.Measured(ns)
	}
	return f
}

// registry returns one with a Collector.
func registry(t *testing.T, s Scope) *prometheus.Registry {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	if err := r.Register(NewCollector(s)); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMetrics: what a page says becomes metrics with the right values, units and labels.
func TestMetrics(t *testing.T) {
	t.Setenv(directory.Env, t.TempDir())
	page(t, 0, 77)
	const labels = `job="JOB",peer="1",rank="0",transport="udp"`
	want := `
# HELP weft_sent_bytes_total Bytes of packets sent to the peer.
# TYPE weft_sent_bytes_total counter
weft_sent_bytes_total{LABELS} 400
# HELP weft_sent_refusals_total Messages, and streams of packets, that the peer refused for lack of room.
# TYPE weft_sent_refusals_total counter
weft_sent_refusals_total{LABELS} 7
# HELP weft_smoothed_round_trip_seconds The smoothed round trip to the peer.
# TYPE weft_smoothed_round_trip_seconds gauge
weft_smoothed_round_trip_seconds{LABELS} 0.002
# HELP weft_polling_seconds_total Time that goroutines have spent looking for packets.
# TYPE weft_polling_seconds_total counter
weft_polling_seconds_total{job="JOB",operation="receive",rank="0"} 1.5
# HELP weft_joined_datagrams_total Datagrams that the kernel had joined of several packets.
# TYPE weft_joined_datagrams_total counter
weft_joined_datagrams_total{job="JOB",rank="0",transport="udp"} 4
# HELP weft_errors_total Errors that the rank has met.
# TYPE weft_errors_total counter
weft_errors_total{error="it is gone",job="JOB",peer="0",rank="0"} 2
# HELP weft_last_error_timestamp_seconds When an error was met last, in seconds since the epoch.
# TYPE weft_last_error_timestamp_seconds gauge
weft_last_error_timestamp_seconds{error="it is gone",job="JOB",peer="0",rank="0"} 6
# HELP weft_rank_info A rank of a job, always 1.
# TYPE weft_rank_info gauge
weft_rank_info{host="here",job="JOB",pid="77",program="test",rank="0"} 1
`
	want = strings.ReplaceAll(strings.ReplaceAll(want, "LABELS", labels), "JOB", directory.Name(1))
	var names []string
	for _, m := range regexp.MustCompile(`TYPE (\S+)`).FindAllStringSubmatch(want, -1) {
		names = append(names, m[1])
	}
	if err := testutil.GatherAndCompare(registry(t, ThisHost), strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(registry(t, ThisProcess), "weft_rank_info"); err != nil || n != 0 {
		t.Errorf("%d ranks are of this process, %v", n, err)
	}
	page(t, 1, os.Getpid())
	if n, err := testutil.GatherAndCount(registry(t, ThisProcess), "weft_rank_info"); err != nil || n != 1 {
		t.Errorf("%d ranks are of this process, %v", n, err)
	}
}

// TestHistogram: all round trips are in it, in buckets that are the same for all.
func TestHistogram(t *testing.T) {
	t.Setenv(directory.Env, t.TempDir())
	page(t, 0, 77)
	families, err := registry(t, ThisHost).Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "weft_round_trip_seconds" {
			continue
		}
		h := f.GetMetric()[0].GetHistogram()
		if len(f.GetMetric()) != 1 || h.GetSampleCount() != 4 ||
			h.GetSampleSum() != time.Duration(1e12+11000).Seconds() || len(h.GetBucket()) != len(counters.Histogram{})-1 {
			t.Errorf("%v", h)
		}
		for i, want := range []uint64{1, 3, 3} {
			if b := h.GetBucket()[i]; b.GetCumulativeCount() != want ||
				b.GetUpperBound() != time.Duration(counters.Below(i)).Seconds() {
				t.Errorf("bucket %d: %v", i, b)
			}
		}
		return
	}
	t.Error("there is no histogram")
}

// TestConventions: names, units and help are as Prometheus's conventions want them.
func TestConventions(t *testing.T) {
	t.Setenv(directory.Env, t.TempDir())
	page(t, 0, 77)
	l, err := stream.Listen(t.Context(), filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	problems, err := testutil.GatherAndLint(registry(t, ThisHost))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	families, err := registry(t, ThisHost).Gather()
	if err != nil || len(families) != len(all) {
		t.Errorf("%d of %d metrics were looked at, %v", len(families), len(all), err)
	}
}

// TestWrongPages: a page that cannot be right, or is none, takes nothing away from others.
func TestWrongPages(t *testing.T) {
	root := t.TempDir()
	t.Setenv(directory.Env, root)
	f := page(t, 0, 77)
	f.Page.Node.Transports[1].Name("udp") // twice
	page(t, 1, 78)
	dir := directory.Jobs()[0]
	if err := os.WriteFile(dir+"/7", make([]byte, 10000), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "# HELP weft_unreadable_jobs Jobs of which not all pages of counters could be read.\n" +
		"# TYPE weft_unreadable_jobs gauge\nweft_unreadable_jobs 1\n"
	r := registry(t, ThisHost)
	if err := testutil.GatherAndCompare(r, strings.NewReader(want), "weft_unreadable_jobs"); err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(r, "weft_rank_info"); err != nil || n != 2 {
		t.Errorf("%d ranks, %v", n, err)
	}
}

// TestDashboard: the dashboard is JSON, and asks for metrics that there are.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range all {
		name := regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(m.String())[1]
		known[name] = true
	}
	ids := map[int]bool{}
	asked := 0
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d, %q", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			for _, name := range regexp.MustCompile(`weft_\w+`).FindAllString(target.Expr, -1) {
				asked++
				if !known[strings.TrimSuffix(name, "_bucket")] {
					t.Errorf("%s: there is no metric %s", p.Title, name)
				}
			}
		}
	}
	if asked < 10 {
		t.Errorf("%d metrics are asked for", asked)
	}
}

// TestStreams: what a process counts of its streams becomes metrics, whether it asks itself or others ask it.
func TestStreams(t *testing.T) {
	t.Setenv(directory.Env, t.TempDir())
	path := filepath.Join(t.TempDir(), "s")
	l, err := stream.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d, err := stream.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	d.Write([]byte("hello"))
	if _, err := io.ReadFull(c, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	labels := fmt.Sprintf(`address=%q,end="listener",network="unix",pid="%d",program=%q`, path, os.Getpid(),
		filepath.Base(os.Args[0]))
	for _, s := range []Scope{ThisProcess, ThisHost} {
		r := registry(t, s)
		var text strings.Builder
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []string{"weft_stream_open_connections{" + labels + "} 1", "weft_stream_read_bytes_total{" +
			labels + "} 5"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("scope %d: %s is not in\n%s", s, want, &text)
			}
		}
	}
}
