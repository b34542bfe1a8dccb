// Package prometheus exports the counters of the ranks of weft jobs to Prometheus: it has a Collector for the Go client
// library. It reads the counter pages of the ranks on this host (docs/COUNTERS.md) without asking the ranks, so it also
// shows ranks that hang.
//
// It also exports the counters of streams: of this process, or of the processes of this host that listen, which it
// asks.
//
// Register [NewCollector] in the program itself with [ThisProcess], or run the exporter beside the jobs: package
// exporter. dashboard.json is a dashboard for Grafana.
//
// It is a module of its own, so that weft does not need the client library. Tested in collector_test.go.
package prometheus
