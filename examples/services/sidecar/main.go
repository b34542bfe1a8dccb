// Command sidecar is an HTTP proxy that runs beside an application. Clients connect to the proxy. It numbers each
// request, limits its time, and answers for the application while that is down. Proxy and application are connected
// by package stream, so that a request between the two takes no system call while both are busy.
//
//	sidecar app /run/app.sock &
//	sidecar proxy localhost:8080 /run/app.sock &
//	curl localhost:8080/hello
//
// The application may end and start again at any time.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"sync/atomic"
	"time"

	"weft/stream"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal("sidecar: ", err)
	}
}

// run does what the arguments say, and writes where it listens.
func run(ctx context.Context, args []string, out io.Writer) error {
	switch {
	case len(args) == 2 && args[0] == "app":
		l, err := stream.Listen(ctx, args[1])
		if err != nil {
			return err
		}
		fmt.Fprintln(out, l.Addr())
		return http.Serve(l, http.HandlerFunc(application))
	case len(args) == 3 && args[0] == "proxy":
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", args[1])
		if err != nil {
			return err
		}
		fmt.Fprintln(out, l.Addr())
		return http.Serve(l, proxy(args[2]))
	}
	return errors.New("it takes: app PATH, or: proxy HOST:PORT PATH")
}

// application is the application. It knows nothing of its sidecar, but for the number of a request.
func application(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	fmt.Fprintf(w, "process %d, request %s: %s %s %d", os.Getpid(), r.Header.Get("Request-Number"), r.Method,
		r.URL.Path, len(body))
}

// proxy returns the sidecar of the application that listens at a path.
func proxy(path string) http.Handler {
	var requests atomic.Uint64
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme = "http"
			r.Out.URL.Host = "application"
			r.Out.Header.Set("Request-Number", fmt.Sprint(requests.Add(1)))
			r.SetXForwarded()
		},
		Transport: &http.Transport{
			DialContext:           func(ctx context.Context, _, _ string) (net.Conn, error) { return stream.Dial(ctx, path) },
			MaxIdleConnsPerHost:   64,
			ResponseHeaderTimeout: 10 * time.Second,
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "the application is down: "+err.Error(), http.StatusBadGateway)
		},
	}
}
