package weftgrpc

import (
	"context"
	"net"

	"google.golang.org/grpc"

	"weft/stream"
)

// Serve serves at an address of package stream until the server is stopped or ctx ends, and then stops it gracefully. A
// Config other than the zero one listens itself: server.Serve(listener).
func Serve(ctx context.Context, address string, server *grpc.Server) error {
	l, err := stream.Listen(ctx, address)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, server.GracefulStop)()
	return server.Serve(l)
}

// Dial returns a client of the server at an address of package stream. It connects when it is first used, as
// grpc.NewClient does. Options come after those of Dial, and can replace them.
func Dial(address string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	return DialWith(new(stream.Config), address, options...)
}

// DialWith is Dial with a Config.
func DialWith(cfg *stream.Config, address string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	dial := func(ctx context.Context, _ string) (net.Conn, error) { return cfg.Dial(ctx, address) }
	mine := []grpc.DialOption{
		grpc.WithContextDialer(dial), grpc.WithTransportCredentials(Creds()), grpc.WithAuthority("localhost"),
	}
	return grpc.NewClient("passthrough:///"+address, append(mine, options...)...)
}
