// Command perf measures unary calls of gRPC and DRPC over a Unix socket, TCP and weft's connections, in the same way
// as weft perf services measures net/http and net/rpc, and those, too.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"weft/lab/perf/services"
)

func main() {
	services.Add(grpcProtocol, drpcProtocol)
	if services.Server() {
		return
	}
	run := services.Command(flag.CommandLine)
	flag.Parse()
	if err := run(context.Background(), os.Stdout, progress); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// progress shows on a terminal what is being measured.
func progress(round int, what string) {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(os.Stderr, "\r\033[Kround %d: %s ", round+1, what)
	}
}
