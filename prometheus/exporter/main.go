// Exporter serves what the ranks of all weft jobs on this host count, for Prometheus to fetch.
//
//	exporter -listen 127.0.0.1:9752
//
// It sees the jobs of its user; as root it sees those of all.
package main

import (
	"flag"
	"log"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	weft "weft/prometheus"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9752", "address to serve at; the path is /metrics")
	flag.Parse()
	server := &http.Server{Addr: *listen, Handler: handler(), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// handler serves the metrics at /metrics.
func handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(weft.NewCollector(weft.ThisHost))
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry, MaxRequestsInFlight: 4}))
	return mux
}
