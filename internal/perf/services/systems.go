package services

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"

	"weft/stream"
)

// Systems are what carries the requests.
var Systems = []string{"unix", "tcp", "weft", "weft-tls"}

// key is known to both processes: it is no secret from anybody on this host.
var key = bytes.Repeat([]byte("measured"), stream.MinKey/8)

// listen listens in a system, at an address of its own.
func listen(ctx context.Context, system string) (net.Listener, error) {
	name := fmt.Sprintf("@weft-services-%d", os.Getpid())
	switch system {
	case "unix":
		return new(net.ListenConfig).Listen(ctx, "unix", name)
	case "tcp":
		return new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	case "weft":
		return stream.Listen(ctx, name)
	case "weft-tls":
		return (&stream.Config{Key: key}).Listen(ctx, "127.0.0.1:0")
	}
	return nil, fmt.Errorf("services: there is no system %q", system)
}

// dialler returns what connects to an address in a system.
func dialler(system, address string) func(ctx context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		switch system {
		case "weft":
			return stream.Dial(ctx, address)
		case "weft-tls":
			return (&stream.Config{Key: key}).Dial(ctx, address)
		}
		return new(net.Dialer).DialContext(ctx, system, address)
	}
}
