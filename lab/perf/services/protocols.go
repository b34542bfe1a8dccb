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

// A Protocol is one in which requests are made.
type Protocol struct {
	Name, What string

	// Bytes is the length of an answer.
	Bytes int

	// Serve answers requests until the listener is closed.
	Serve func(l net.Listener) error

	// Clients returns n clients, each with a connection of its own. A client is a function that makes one request
	// and checks the answer. End closes all of them.
	Clients func(n int, dial Dial) (request []func() error, end func(), err error)
}

// A Dial connects to the server.
type Dial func(context.Context) (net.Conn, error)

var protocols = []Protocol{
	httpProtocol("http", "HTTP GET, 64 bytes", 64),
	httpProtocol("body", "HTTP GET, 1 MiB", 1<<20),
	{Name: "netrpc", What: "net/rpc, 64 bytes", Bytes: 64, Serve: serveRPC, Clients: rpcClients},
	connectProtocol,
}

// Add adds protocols. It must be called before Run.
func Add(p ...Protocol) { protocols = append(protocols, p...) }

// Names returns the names of all protocols.
func Names() (names []string) {
	for _, p := range protocols {
		names = append(names, p.Name)
	}
	return names
}

// find returns the protocol of a name.
func find(name string) (Protocol, error) {
	for _, p := range protocols {
		if p.Name == name {
			return p, nil
		}
	}
	return Protocol{}, fmt.Errorf("services: there is no protocol %q, only %q", name, Names())
}

// httpProtocol returns a protocol of GET requests with answers of n bytes. Each client has one connection, which is
// kept alive.
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
		Clients: func(clients int, dial Dial) (request []func() error, end func(), err error) {
			return OpenClients(clients, func() (func() error, func() error, error) {
				t := &http.Transport{
					MaxConnsPerHost: 1,
					DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
				}
				closeIdle := func() error {
					t.CloseIdleConnections()
					return nil
				}
				return func() error { return get(t, n) }, closeIdle, nil
			})
		},
	}
}

// OpenClients opens n clients, one after the other: the Clients function of a Protocol. Open returns what makes a
// request with the new client, and what closes the client.
func OpenClients(n int, open func() (request, close func() error, err error)) ([]func() error, func(), error) {
	var requests, closes []func() error
	end := func() {
		for _, c := range closes {
			_ = c()
		}
	}
	for range n {
		request, closeIt, err := open()
		if err != nil {
			end()
			return nil, nil, err
		}
		requests = append(requests, request)
		closes = append(closes, closeIt)
	}
	return requests, end, nil
}

// EchoBody returns what is sent to a server that answers with the same.
func EchoBody() []byte { return bytes.Repeat([]byte{'w'}, 64) }

// CheckEcho returns an error if an answer is not what was sent.
func CheckEcho(answer, sent []byte) error {
	if !bytes.Equal(answer, sent) {
		return fmt.Errorf("services: the answer (%d bytes) is not what was sent (%d bytes)", len(answer), len(sent))
	}
	return nil
}

// get makes a request whose answer must have n bytes.
func get(t *http.Transport, n int) error {
	r, err := http.NewRequest(http.MethodGet, "http://service/", nil)
	if err != nil {
		return err
	}
	answer, err := t.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if got, err := io.Copy(io.Discard, answer.Body); err != nil || got != int64(n) {
		return fmt.Errorf("services: the answer has %d bytes, not %d: %w", got, n, err)
	}
	return nil
}

// Echo is the service of net/rpc.
type Echo struct{}

// Echo answers with its argument.
func (Echo) Echo(b []byte, answer *[]byte) error {
	*answer = b
	return nil
}

func serveRPC(l net.Listener) error {
	s := rpc.NewServer()
	if err := s.Register(Echo{}); err != nil {
		return err
	}
	for { // rpc.Server.Accept would log that the listener was closed
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go s.ServeConn(c)
	}
}

// rpcClients opens n connections with a client of net/rpc each, and returns a function for each that makes one
// request.
func rpcClients(n int, dial Dial) (request []func() error, end func(), err error) {
	return OpenClients(n, func() (func() error, func() error, error) {
		conn, err := dial(context.Background())
		if err != nil {
			return nil, nil, err
		}
		c := rpc.NewClient(conn)
		body := EchoBody()
		return func() error {
			var answer []byte
			if err := c.Call("Echo.Echo", body, &answer); err != nil {
				return err
			}
			return CheckEcho(answer, body)
		}, c.Close, nil
	})
}
