package weftgrpc

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"weft/stream"
)

// An AuthInfo says which process is at the other end of a connection: the kernel has said so on one host, and TLS
// between hosts.
type AuthInfo struct {
	credentials.CommonAuthInfo
	Conn net.Conn // a *stream.Conn or a *stream.TLSConn
}

// AuthType returns "weft".
func (AuthInfo) AuthType() string { return "weft" }

// Peer returns the process at the other end. It is zero between hosts.
func (a AuthInfo) Peer() stream.Peer {
	if addr, ok := a.Conn.RemoteAddr().(stream.Addr); ok {
		return addr.Peer
	}
	return stream.Peer{}
}

// Peer returns the process that has sent the request of a handler's context, or at a client, with grpc.Peer's context,
// the process that has answered it. It is false if the connection is none between processes of one host with the
// credentials of this package.
func Peer(ctx context.Context) (stream.Peer, bool) {
	if p, ok := peer.FromContext(ctx); ok {
		if a, ok := p.AuthInfo.(AuthInfo); ok {
			return a.Peer(), a.Peer() != stream.Peer{}
		}
	}
	return stream.Peer{}, false
}

// Creds returns credentials for connections of weft, at a client or a server: they encrypt nothing themselves, and
// refuse connections that are not weft's. As gRPC's local credentials do for Unix sockets, they say that what is sent
// is private and intact, so tokens may be sent with calls.
func Creds() credentials.TransportCredentials { return creds{} }

type creds struct{}

func (creds) ClientHandshake(_ context.Context, _ string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return know(c)
}

func (creds) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) { return know(c) }

func know(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	switch c.(type) {
	case *stream.Conn, *stream.TLSConn:
	default:
		return nil, nil, fmt.Errorf("weftgrpc: a connection of type %T: these credentials need one of package stream", c)
	}
	info := AuthInfo{Conn: c}
	info.SecurityLevel = credentials.PrivacyAndIntegrity
	return c, info, nil
}

func (creds) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "weft"}
}

func (creds) Clone() credentials.TransportCredentials { return creds{} }

func (creds) OverrideServerName(string) error { return nil }
