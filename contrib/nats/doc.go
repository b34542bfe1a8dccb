// Package weftnats lets clients on the host of a NATS server reach it over streams of weft: by shared memory where they
// are busy, and with the server's word on which processes may connect (stream.Config.Allow).
//
//	l, err := stream.Listen(ctx, "/run/nats.sock")
//	go weftnats.Serve(l, server) // a *server.Server of nats-server, which may have DontListen set
//
//	nc, err := nats.Connect("nats://local", nats.SetCustomDialer(weftnats.Dialer("/run/nats.sock")))
//
// The server takes such clients for in-process ones: it knows them by what they say, as it knows others, and not by
// their process. It is a module of its own, so that weft does not need NATS. Tested in nats_test.go.
package weftnats
