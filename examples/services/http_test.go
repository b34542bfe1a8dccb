package services

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/rpc"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// handler answers with the protocol and the length of the body, or, at /echo, with the body.
func handler(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/echo" {
		body, _ := io.ReadAll(r.Body) // all: HTTP/1 does not read what comes after the answer has begun
		w.Write(body)
		return
	}
	n, _ := io.Copy(io.Discard, r.Body)
	fmt.Fprintf(w, "%s %d", r.Proto, n)
}

// httpClient returns a client that dials with the given function, and counts the connections.
func httpClient(t *testing.T, dial func(context.Context) (net.Conn, error), h2 bool) (*http.Client, *atomic.Int32) {
	var dials atomic.Int32
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dials.Add(1)
			return dial(ctx)
		},
		Protocols: new(http.Protocols),
	}
	transport.Protocols.SetHTTP1(!h2)
	transport.Protocols.SetUnencryptedHTTP2(h2)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, &dials
}

func post(t *testing.T, client *http.Client, path string, body []byte) string {
	t.Helper()
	answer, err := client.Post("http://weft"+path, "text/plain", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func serveHTTP(t *testing.T, l net.Listener, h http.Handler) {
	server := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
}

// TestHTTP: one connection serves all requests, over HTTP/1.1 with keep-alive and over HTTP/2.
func TestHTTP(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 100000)
	for proto, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		l, dial := listen(t)
		serveHTTP(t, l, http.HandlerFunc(handler))
		client, dials := httpClient(t, dial, h2)
		for range 20 {
			got := post(t, client, "/", body)
			want := fmt.Sprintf("%s %d", proto, len(body))
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if got := post(t, client, "/echo", body); got != string(body) {
				t.Errorf("%s: %d of %d bytes came back, or others", proto, len(got), len(body))
			}
		}
		if n := dials.Load(); n != 1 {
			t.Errorf("%s: %d connections", proto, n)
		}
	}
}

// TestReverseProxy: a reverse proxy (sidecar) works with connections of weft on both sides, over HTTP/1.1 and HTTP/2.
func TestReverseProxy(t *testing.T) {
	for proto, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		behind, dialBehind := listen(t)
		serveHTTP(t, behind, http.HandlerFunc(handler))
		target, _ := url.Parse("http://behind")
		proxy := httputil.NewSingleHostReverseProxy(target)
		inner, _ := httpClient(t, dialBehind, h2)
		proxy.Transport = inner.Transport
		front, dial := listen(t)
		serveHTTP(t, front, proxy)
		client, _ := httpClient(t, dial, h2)
		body := strings.Repeat("through ", 200)
		for range 50 {
			if got := post(t, client, "/echo", []byte(body)); got != body {
				t.Fatalf("%s: %d of %d bytes came back, or others", proto, len(got), len(body))
			}
		}
		want := fmt.Sprintf("%s %d", proto, len(body))
		if got := post(t, client, "/", []byte(body)); got != want {
			t.Errorf("behind the proxy came %q, want %q", got, want)
		}
	}
}

// Arith is a service of net/rpc.
type Arith struct{}

// Double returns twice its argument.
func (Arith) Double(n int, twice *int) error {
	*twice = 2 * n
	return nil
}

// TestNetRPC: many goroutines share a client of net/rpc.
func TestNetRPC(t *testing.T) {
	l, dial := listen(t)
	server := rpc.NewServer()
	if err := server.Register(Arith{}); err != nil {
		t.Fatal(err)
	}
	go server.Accept(l)
	c, err := dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := rpc.NewClient(c)
	defer client.Close()
	errs := make(chan error)
	for i := range 16 {
		go func() {
			for range 100 {
				var twice int
				if err := client.Call("Arith.Double", i, &twice); err != nil || twice != 2*i {
					errs <- fmt.Errorf("2 * %d is %d: %v", i, twice, err)
					return
				}
			}
			errs <- nil
		}()
	}
	for range 16 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
