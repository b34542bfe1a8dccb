// Exporter serves what the ranks of all weft jobs on this host count, for Prometheus to fetch.
//
//	exporter -listen 127.0.0.1:9752
//
// It sees the jobs of its user; as root it sees those of all.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	weft "weft/prometheus"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9752", "address to serve at; the path is /metrics")
	flag.Parse()
	server := serving()
	server.Addr = *listen
	log.Fatal(server.ListenAndServe())
}

// What strangers can make the exporter hold.
const (
	mostOpen   = 64 // connections; one more is closed at once
	mostHeader = 16 << 10
	patience   = 10 * time.Second // with a request, with its reader, and between requests
)

// serving returns a server of the metrics that bounds what each client, and all together, can take.
func serving() *http.Server {
	var open atomic.Int64
	return &http.Server{
		Handler: handler(), MaxHeaderBytes: mostHeader,
		ReadHeaderTimeout: patience, ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: patience,
		ConnState: func(c net.Conn, s http.ConnState) {
			switch s {
			case http.StateNew:
				if open.Add(1) > mostOpen {
					c.Close()
				}
			case http.StateClosed, http.StateHijacked:
				open.Add(-1)
			}
		},
	}
}

// handler serves the metrics at /metrics.
func handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(weft.NewCollector(weft.ThisHost))
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry, MaxRequestsInFlight: 4}))
	return mux
}
