package bootstrap

import (
	"crypto/rand"
	"encoding/binary"
	"net"
	"os"
	"slices"
)

// NewSecret returns a new job secret.
func NewSecret() []byte {
	b := make([]byte, 32)
	rand.Read(b)
	return b
}

// NewID returns a new job number.
func NewID() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// NewLocal returns the sources of n ranks that live in this process, as their server does. A job of one is
// NewLocal(1)[0].
func NewLocal(n int) []Source {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	jobs := slices.Repeat([]Job{{Size: n, ID: NewID(), Secret: NewSecret(), Host: host, Local: n, Crowd: n}}, n)
	for i := range jobs {
		jobs[i].Rank = i
	}
	server := NewServer(jobs)
	sources := make([]Source, n)
	for i := range sources {
		here, there := net.Pipe()
		go func() { _ = server.Serve(i, there) }() // it ends when the source is closed
		joined, err := Join(here)
		if err != nil {
			panic(err) // the other end of the pipe is the server above
		}
		sources[i] = struct{ Source }{joined} // there is no launcher that joins what ranks record
	}
	return sources
}
