package weftraft

import (
	"context"
	"net"
	"time"

	"github.com/hashicorp/raft"

	"weft/stream"
)

// A Layer is a raft.StreamLayer over streams. Any number of goroutines may call its methods at the same time.
type Layer struct {
	net.Listener
	dial    func(ctx context.Context, address string) (net.Conn, error)
	address raft.ServerAddress
}

var _ raft.StreamLayer = (*Layer)(nil)

// Listen listens at an address of package stream, which is also the one by which other servers dial this one: a path,
// or a host and a port. A nil Config is the zero one.
func Listen(ctx context.Context, address string, cfg *stream.Config) (*Layer, error) {
	if cfg == nil {
		cfg = new(stream.Config)
	}
	l, err := cfg.Listen(ctx, address)
	if err != nil {
		return nil, err
	}
	return &Layer{l, cfg.Dial, raft.ServerAddress(l.Addr().String())}, nil
}

// Ranks listens in the network of a job, of which a rank runs one server. The address of a server is then rank and a
// number: rank0.
func Ranks(n *stream.Network) (*Layer, error) {
	l, err := n.Listen()
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		return n.DialContext(ctx, "weft", address)
	}
	return &Layer{l, dial, raft.ServerAddress(n.Addr().String())}, nil
}

// Address returns the address of this server for the configuration of the cluster.
func (l *Layer) Address() raft.ServerAddress { return l.address }

// Dial connects to another server. A timeout of 0 means none.
func (l *Layer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx := context.Background()
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return l.dial(ctx, string(address))
}
