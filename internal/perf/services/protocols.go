package services

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/rpc"
)

// A Protocol is one that requests are made in.
type Protocol struct {
	Name, What string

	// Bytes is how long an answer is.
	Bytes int

	// Serve answers requests, until the listener is closed.
	Serve func(l net.Listener) error

	// Clients returns n clients, each with a connection of its own, as functions that make
	// one request and check the answer, and what closes them.
	Clients func(n int, dial func(context.Context) (net.Conn, error)) (request []func() error, end func(), err error)
}

var protocols = []Protocol{
	httpProtocol("http", "HTTP GET, 64 bytes", 64),
	httpProtocol("body", "HTTP GET, 1 MiB", 1<<20),
	{Name: "netrpc", What: "net/rpc, 64 bytes", Bytes: 64, Serve: serveRPC, Clients: rpcClients},
}

// Add adds protocols, before Run.
func Add(p ...Protocol) { protocols = append(protocols, p...) }

// Names returns the names of all protocols.
func Names() (names []string) {
	for _, p := range protocols {
		names = append(names, p.Name)
	}
	return names
}

func find(name string) (Protocol, error) {
	for _, p := range protocols {
		if p.Name == name {
			return p, nil
		}
	}
	return Protocol{}, fmt.Errorf("services: there is no protocol %q, only %q", name, Names())
}

func httpProtocol(name, what string, n int) Protocol {
	body := bytes.Repeat([]byte{'w'}, n)
	return Protocol{
		Name: name, What: what, Bytes: n,
		Serve: func(l net.Listener) error {
			return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(n))
				_, _ = w.Write(body)
			}))
		},
		Clients: func(clients int, dial func(context.Context) (net.Conn, error)) (request []func() error, end func(), err error) {
			var transports []*http.Transport
			for range clients {
				t := &http.Transport{
					MaxConnsPerHost: 1,
					DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
				}
				transports = append(transports, t)
				request = append(request, func() error { return get(t, n) })
			}
			return request, func() {
				for _, t := range transports {
					t.CloseIdleConnections()
				}
			}, nil
		},
	}
}

// get makes a request whose answer has n bytes.
func get(t *http.Transport, n int) error {
	r, err := http.NewRequest("GET", "http://service/", nil)
	if err != nil {
		return err
	}
	answer, err := t.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if got, err := io.Copy(io.Discard, answer.Body); err != nil || got != int64(n) {
		return fmt.Errorf("services: %d of %d bytes have come: %w", got, n, err)
	}
	return nil
}

// Echo is a service of net/rpc.
type Echo struct{}

// Echo answers with what it is given.
func (Echo) Echo(b []byte, answer *[]byte) error {
	*answer = b
	return nil
}

func serveRPC(l net.Listener) error {
	s := rpc.NewServer()
	if err := s.Register(Echo{}); err != nil {
		return err
	}
	for { // rpc.Server.Accept would log the end
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go s.ServeConn(c)
	}
}

func rpcClients(n int, dial func(context.Context) (net.Conn, error)) (request []func() error, end func(), err error) {
	var clients []*rpc.Client
	end = func() {
		for _, c := range clients {
			c.Close()
		}
	}
	for range n {
		conn, err := dial(context.Background())
		if err != nil {
			end()
			return nil, nil, err
		}
		c := rpc.NewClient(conn)
		clients = append(clients, c)
		b := bytes.Repeat([]byte{'w'}, 64)
		request = append(request, func() error {
			var answer []byte
			if err := c.Call("Echo.Echo", b, &answer); err != nil {
				return err
			}
			if !bytes.Equal(answer, b) {
				return fmt.Errorf("services: the answer has %d bytes, or others", len(answer))
			}
			return nil
		})
	}
	return request, end, nil
}
