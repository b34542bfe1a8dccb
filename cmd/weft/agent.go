package main

import (
	"os"

	"weft/internal/agent"
)

// serveAgent is the command weft agent. weft run starts it on each other host, and the two talk over the agent's
// standard input and output. Help does not name it, since nobody calls it by hand.
func serveAgent() error { return agent.Serve(os.Stdin, os.Stdout, version()) }
