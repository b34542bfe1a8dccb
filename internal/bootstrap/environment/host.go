package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// A Host tells which ranks are together.
type Host struct {
	ID      string // ranks with the same may share memory
	Machine string // ranks with the same share processors
}

// thisHost finds out where this process is. Memory is shared over sockets that belong to a network
// namespace, between processes of one user that see each other; so ranks with the same kernel,
// namespaces and user are together. Two containers are not, even on one machine.
func thisHost(name string) Host {
	boot := first("/proc/sys/kernel/random/boot_id")
	links := func(names ...string) (all string) {
		for _, n := range names {
			target, _ := os.Readlink("/proc/self/ns/" + n) // "" in all ranks where there are no namespaces
			all += " " + target
		}
		return all
	}
	user := fmt.Sprint(" ", os.Getuid())
	id := name + " " + boot + user
	return Host{
		ID:      readable(name) + "." + digest(id+links("net", "pid", "user")),
		Machine: digest(id + links("pid", "cgroup")),
	}
}

// readable returns a host's name with letters, digits, dots and dashes only.
func readable(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name[:min(len(name), 64)])
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// first returns the first line of a file, or "".
func first(file string) string {
	b, _ := os.ReadFile(file)
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}
