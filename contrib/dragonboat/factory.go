package weftdragonboat

import (
	"context"
	"net"
	"strconv"
	"strings"

	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/raftio"

	"weft/stream"
)

// A factory makes transports that listen and dial in one way.
type factory struct {
	listen func(ctx context.Context, address string) (net.Listener, error)
	dial   func(ctx context.Context, address string) (net.Conn, error)
	valid  func(address string) bool
}

// Transport returns what makes dragonboat's messages travel over the connections of a stream.Config. A RaftAddress is
// then an address of package stream: a path, or a host and a port. MutualTLS has no effect: the Config says which
// connections are encrypted, and which processes may connect.
func Transport(cfg *stream.Config) config.TransportFactory {
	return &factory{cfg.Listen, cfg.Dial, func(address string) bool {
		_, port, err := net.SplitHostPort(address)
		return strings.HasPrefix(address, "/") || strings.HasPrefix(address, "@") || err == nil && port != ""
	}}
}

// Ranks returns what makes dragonboat's messages travel over the network of a job, of which a rank runs one NodeHost. A
// RaftAddress is then rank and a number: rank0.
func Ranks(n *stream.Network) config.TransportFactory {
	return &factory{
		listen: func(context.Context, string) (net.Listener, error) { return n.Listen() },
		dial: func(ctx context.Context, address string) (net.Conn, error) {
			return n.DialContext(ctx, "weft", address)
		},
		valid: func(address string) bool {
			digits, ok := strings.CutPrefix(address, "rank")
			rank, err := strconv.Atoi(digits)
			return ok && err == nil && rank >= 0
		},
	}
}

// Create makes the transport of a NodeHost.
func (f *factory) Create(c config.NodeHostConfig, m raftio.MessageHandler, s raftio.ChunkHandler) raftio.ITransport {
	t := &transport{factory: f, address: c.GetListenAddress(), messages: m, chunks: s}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// Validate reports whether an address may be a RaftAddress.
func (f *factory) Validate(address string) bool { return f.valid(address) }
