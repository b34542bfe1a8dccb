// Command perf measures unary calls of gRPC and of DRPC over a Unix socket, TCP and weft's
// connections, as weft perf services does for net/http and net/rpc, which it measures, too.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"weft/internal/perf/services"
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

// progress shows what is being measured, where somebody may be looking.
func progress(round int, what string) {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(os.Stderr, "\r\033[Kround %d: %s ", round+1, what)
	}
}
