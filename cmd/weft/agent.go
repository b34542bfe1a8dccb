package main

import (
	"os"

	"weft/internal/agent"
)

// serveAgent is weft agent, which weft run starts on other hosts: it talks to it over
// standard input and output. Nobody calls it by hand, so that help does not name it.
func serveAgent() error { return agent.Serve(os.Stdin, os.Stdout, version()) }
