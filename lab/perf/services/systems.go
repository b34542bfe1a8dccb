package services

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"weft/internal/handshake"
	"weft/internal/launch"
	"weft/stream"
)

// Systems are the kinds of connections that carry the requests.
var Systems = []string{"unix", "tcp", "weft", "weft-tls"}

// betweenHosts are the systems that reach from one host to another.
var betweenHosts = []string{"tcp", "weft-tls"}

// places returns the systems that there are here, and the host on which servers run: the second host of a lab if this
// process runs on the first, else this host.
func places() (systems []string, host launch.Host, err error) {
	hosts, err := launch.LabHosts()
	if err != nil || len(hosts) < 2 {
		return Systems, launch.Host{Address: "127.0.0.1"}, err
	}
	return betweenHosts, hosts[1], nil
}

// key is the key that both processes share. It is not a secret.
var key = bytes.Repeat([]byte("measured"), stream.MinKey/8)

// backlog is the number of connections that may wait for Accept: the clients dial all at once, and a listener that is
// crowded drops handshakes, which five tries may not survive.
const backlog = 4096

// listen listens in a system, at a new address; where that is of TCP, of a host.
func listen(ctx context.Context, system, host string) (net.Listener, error) {
	name := fmt.Sprintf("@weft-services-%d", os.Getpid())
	switch system {
	case "unix":
		return new(net.ListenConfig).Listen(ctx, "unix", name)
	case "tcp":
		return new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	case "weft":
		return stream.Listen(ctx, name)
	case "weft-tls":
		return (&stream.Config{Key: key, Backlog: backlog}).Listen(ctx, net.JoinHostPort(host, "0"))
	}
	return nil, fmt.Errorf("services: there is no system %q", system)
}

// dialler returns a function that connects to an address in a system.
func dialler(system, address string) Dial {
	return func(ctx context.Context) (net.Conn, error) {
		switch system {
		case "weft":
			return stream.Dial(ctx, address)
		case "weft-tls":
			return (&stream.Config{Key: key}).Dial(ctx, address)
		}
		var c net.Conn
		err := handshake.Retry(ctx.Done(), func() (again bool, err error) {
			c, err = new(net.Dialer).DialContext(ctx, system, address)
			return errors.Is(err, syscall.EAGAIN), err // a Unix socket's queue is full; stream.Dial tries again, too
		})
		return c, err
	}
}
