// Package weftgrpc runs gRPC over streams of weft: a server and a client in one line each, and credentials that tell a
// handler which process it serves.
//
//	err := weftgrpc.Serve(ctx, "/run/app.sock", grpcServer) // a server made with weftgrpc.Creds(), or without
//
//	conn, err := weftgrpc.Dial("/run/app.sock") // a *grpc.ClientConn
//
//	if peer, ok := weftgrpc.Peer(ctx); ok { … peer.PID, peer.UID … } // in a handler
//
// It is a module of its own, so that weft does not need gRPC. Tested in grpc_test.go.
package weftgrpc
