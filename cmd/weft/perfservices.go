package main

import (
	"context"
	"flag"
	"os"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/perf/services"
)

const perfServicesHelp = `Measures requests of programs that know nothing of weft, between two processes of
this machine: HTTP GET of 64 bytes and of 1 MiB (net/http, one connection for each
client, kept alive) and net/rpc. They go over a Unix socket (unix), TCP (tcp), shared
memory (weft), and TLS over TCP (weft-tls), the two last by package stream. Each
connection has a goroutine that makes one request after the other. Processor time
is that of client and server together.

gRPC and DRPC are measured in the same way by a program of its own, so that weft does
not need them: go run ./perf in weft's examples/services.

EXAMPLES
  weft perf services
  weft perf services -protocols http -systems unix,weft -connections 1 -rounds 9
  weft perf services -json`

func perfServicesCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft perf services", flag.ContinueOnError)
	run := services.Command(fs)
	return &ffcli.Command{
		Name: "services", ShortUsage: "weft perf services [FLAGS]",
		ShortHelp: "HTTP and net/rpc over Unix sockets, TCP and weft",
		LongHelp:  perfServicesHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return unexpected("perf services", args[0])
			}
			show := progress()
			err := run(ctx, os.Stdout, show)
			progressEnds()
			return err
		},
	}
}
