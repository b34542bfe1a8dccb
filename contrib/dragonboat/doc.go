// Package weftdragonboat carries the messages and snapshots of dragonboat over streams of weft: between processes of
// one host by shared memory, between hosts by TLS, and between the ranks of a job by whatever the job runs on.
//
//	config.NodeHostConfig{
//		RaftAddress: "/run/raft1.sock", // or host:port with a stream.Config that has a key
//		Expert:      config.ExpertConfig{TransportFactory: weftdragonboat.Transport(new(stream.Config))},
//	}
//
// It is a module of its own, so that weft does not need dragonboat. Tested in dragonboat_test.go.
package weftdragonboat
