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

const proxyHelp = `Joins connections of package stream to TCP or Unix sockets, as socat does, so that
programs that know nothing of weft can be reached, and can reach others. It listens
at FROM, and for each connection that comes it makes one to TO. Addresses are

  weft:PATH       a listener of package stream on this host
  weft:HOST:PORT  one on another host, or for others: TLS under the key in the file -key
  unix:PATH       a Unix socket
  tcp:HOST:PORT   TCP

Only processes of the same user, and root, are let in at a weft: address. Whoever can
reach a tcp: address is let in. Half-closed connections stay so.

EXAMPLES
  head -c 32 /dev/urandom >app.key                     both hosts have the file, and nobody else
  weft proxy -key app.key weft::7777 weft:/run/app.sock
  weft proxy -key app.key tcp:localhost:8080 weft:server:7777
  weft proxy tcp:localhost:8080 weft:/run/app.sock    curl reaches a Go service
  weft proxy weft:/run/redis tcp:localhost:6379       a Go program reaches Redis`

func proxyCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft proxy", flag.ContinueOnError)
	key := fs.String("key", "", "file with the key of weft:HOST:PORT: 32 random bytes or more")
	return &ffcli.Command{
		Name: "proxy", ShortUsage: "weft proxy [FLAGS] FROM TO", ShortHelp: "join streams to TCP and Unix sockets", LongHelp: proxyHelp, FlagSet: fs,
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
			from.cfg, to.cfg = cfg, cfg
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

// proxy joins every connection that comes to one that it dials, until ctx ends. It closes
// the listener and all connections.
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
			join(ctx, c, d)
		})
	}
}

// join copies both ways until both have ended, one has failed, or ctx ends.
func join(ctx context.Context, a, b net.Conn) {
	end := func() {
		a.Close()
		b.Close()
	}
	defer context.AfterFunc(ctx, end)()
	var ways sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		ways.Go(func() {
			from, to := way[0], way[1]
			if _, err := io.Copy(to, from); err != nil {
				end() // of no use to either
				return
			}
			if half, ok := to.(interface{ CloseWrite() error }); ok {
				half.CloseWrite()
			}
		})
	}
	ways.Wait()
}
