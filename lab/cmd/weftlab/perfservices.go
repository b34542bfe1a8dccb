package main

import (
	"context"
	"flag"
	"os"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/lab/perf/services"
)

const perfServicesHelp = `Measures requests between two processes of this machine, a client and a server that use
ordinary Go packages: HTTP GET of 64 bytes and of 1 MiB (net/http, with connections that
are kept alive), and net/rpc. The same requests go over:

  unix      a Unix socket
  tcp       TCP
  weft      shared memory, by package stream
  weft-tls  TLS over TCP, by package stream

On each connection one goroutine makes one request after the other. The table has, over
all requests, the median and the tails of their time in microseconds, requests and 10^6
bytes per second, the processor time of client and server together for a request, and
the median divided by that of the first system.

In a lab the server runs on its second host, and the requests go over what reaches
there: TCP, and TLS over TCP by package stream.

gRPC and DRPC are measured in the same way by a program of its own, so that weft does
not need them: go run ./perf in weft's examples/services.

EXAMPLES
  weftlab perf services
  weftlab perf services -protocols http -systems unix,weft -connections 1 -rounds 9
  weftlab perf services -json
  weftlab lab -- weftlab perf services`

func perfServicesCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab perf services", flag.ContinueOnError)
	run := services.Command(fs)
	return &ffcli.Command{
		Name: "services", ShortUsage: "weftlab perf services [FLAGS]",
		ShortHelp: "HTTP and net/rpc over Unix sockets, TCP and weft",
		LongHelp:  perfServicesHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return cli.Unexpected("perf services", args[0])
			}
			show := progress()
			err := run(ctx, os.Stdout, show)
			progressEnds()
			return err
		},
	}
}
