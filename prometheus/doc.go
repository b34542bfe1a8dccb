// Package prometheus gives Prometheus what the ranks of weft jobs count: a Collector for its client
// library. It reads the pages of counters of the ranks on this host (docs/COUNTERS.md), without
// asking the ranks, so it also tells of ranks that hang.
//
// Register [NewCollector] in the program itself with [ThisProcess], or run the exporter beside
// the jobs: package exporter. dashboard.json is a dashboard for Grafana.
//
// It is a module of its own, so that weft's does not need the client library.
package prometheus
