// Package weftraft carries the messages of hashicorp/raft over streams of weft: between processes of one host by shared
// memory, and between hosts by TLS.
//
//	layer, err := weftraft.Listen(ctx, "/run/raft1.sock", nil) // or host:port with a stream.Config that has a key
//	transport := raft.NewNetworkTransport(layer, 3, 10*time.Second, os.Stderr)
//	node, err := raft.NewRaft(config, fsm, logs, stable, snapshots, transport)
//
// It is a module of its own, so that weft does not need raft. Tested in raft_test.go.
package weftraft
