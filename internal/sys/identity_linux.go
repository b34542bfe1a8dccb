package sys

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Identify returns the identity of this process. A kernel is known by a number that it drew
// when it started. Sockets belong to a network namespace, numbers of processes to another
// one, and only processes of one user, as one user namespace has it, look into each other's
// memory.
func Identify() (id Identity) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	id.Machine = strings.TrimSpace(string(text))
	if err != nil || id.Machine == "" {
		return Identity{}
	}
	if links, ok := namespaces("pid", "cgroup"); ok {
		id.Container = id.Machine + links + " " + ListCPUs(Affinity())
	}
	if links, ok := namespaces("net", "pid", "user"); ok {
		id.Space = id.Machine + links + " " + strconv.Itoa(os.Getuid())
	}
	return id
}

// namespaces returns the namespaces that this thread is in. For a kind of namespace that the
// kernel does not have, the result is the same in all processes.
func namespaces(kinds ...string) (links string, ok bool) {
	for _, kind := range kinds {
		link, err := os.Readlink("/proc/thread-self/ns/" + kind)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			link = "no " + kind
		case err != nil:
			return "", false
		}
		links += " " + link
	}
	return links, true
}
