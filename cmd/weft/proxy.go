package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/stream"
)

const proxyHelp = `Forwards connections between package stream and TCP or Unix sockets, as socat does,
so that programs without weft can talk to programs that use it. weft proxy listens at
FROM, and connects to TO for each connection that it accepts. FROM and TO are each

  weft:PATH       a listener of package stream on this host
  weft:HOST:PORT  a listener of package stream on a host: TLS, with the key of -key
  unix:PATH       a Unix socket
  tcp:HOST:PORT   a TCP port

A weft:PATH address accepts processes of the same user, and of root. A weft:HOST:PORT
address accepts peers that have the key. A tcp: address accepts every peer that can
reach it. When one side closes its half of a connection, so does the other.

EXAMPLES
  head -c 32 /dev/urandom >app.key                     copy it to both hosts, and keep it secret
  weft proxy -key app.key weft::7777 weft:/run/app.sock
  weft proxy -key app.key tcp:localhost:8080 weft:server:7777
  weft proxy tcp:localhost:8080 weft:/run/app.sock     curl reaches a Go service
  weft proxy weft:/run/redis tcp:localhost:6379        a Go program reaches Redis`

func proxyCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft proxy", flag.ContinueOnError)
	key := fs.String("key", "", "file with the key for weft:HOST:PORT, 32 random bytes or more")
	return &ffcli.Command{
		Name:       "proxy",
		ShortUsage: "weft proxy [FLAGS] FROM TO",
		ShortHelp:  "forward connections between streams and TCP or Unix sockets",
		LongHelp:   proxyHelp,
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 2 {
				return errors.New("proxy: it takes two addresses: where to listen, and where to connect to")
			}
			from, err := parseEndpoint(args[0])
			if err != nil {
				return err
			}
			to, err := parseEndpoint(args[1])
			if err != nil {
				return err
			}
			var cfg stream.Config
			if *key != "" {
				if cfg.Key, err = os.ReadFile(*key); err != nil {
					return fmt.Errorf("proxy: -key: %w", err)
				}
			}
			from.cfg = cfg
			to.cfg = cfg
			l, err := from.listen(ctx)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "weft proxy: %s goes to %s\n", l.Addr(), args[1])
			return proxy(ctx, l, to.dial)
		},
	}
}

// An endpoint is an address of weft proxy.
type endpoint struct {
	network, address string
	cfg              stream.Config
}

func parseEndpoint(text string) (endpoint, error) {
	network, address, _ := strings.Cut(text, ":")
	switch network {
	case "weft", "unix", "tcp":
		if address != "" {
			return endpoint{network: network, address: address}, nil
		}
	}
	return endpoint{}, fmt.Errorf("proxy: %q: an address is weft:PATH, weft:HOST:PORT, unix:PATH or tcp:HOST:PORT", text)
}

func (e endpoint) listen(ctx context.Context) (net.Listener, error) {
	if e.network == "weft" {
		return e.cfg.Listen(ctx, e.address)
	}
	return new(net.ListenConfig).Listen(ctx, e.network, e.address)
}

func (e endpoint) dial(ctx context.Context) (net.Conn, error) {
	if e.network == "weft" {
		return e.cfg.Dial(ctx, e.address)
	}
	return new(net.Dialer).DialContext(ctx, e.network, e.address)
}

// proxy forwards each connection that l accepts to one that dial makes, until ctx ends. Before it returns it closes the
// listener and all connections.
func proxy(ctx context.Context, l net.Listener, dial func(context.Context) (net.Conn, error)) error {
	var joined sync.WaitGroup
	defer joined.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	for {
		c, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		joined.Go(func() {
			defer c.Close()
			d, err := dial(ctx)
			if err != nil {
				fmt.Fprintf(os.Stderr, "weft proxy: a connection from %s: %v\n", c.RemoteAddr(), err)
				return
			}
			defer d.Close()
			passOn(ctx, c, d)
		})
	}
}

// passOn copies in both directions until both have ended, one has failed, or ctx ends.
func passOn(ctx context.Context, a, b net.Conn) {
	end := func() {
		a.Close()
		b.Close()
	}
	defer context.AfterFunc(ctx, end)()
	forward := func(to, from net.Conn) {
		if _, err := io.Copy(to, from); err != nil {
			end() // neither end can use what is left of the connection
			return
		}
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}
	var both sync.WaitGroup
	both.Go(func() { forward(b, a) })
	both.Go(func() { forward(a, b) })
	both.Wait()
}
