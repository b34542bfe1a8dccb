package sys

import (
	"os"
	"strings"
)

// Identity tells this host from all others, whatever it is called: the machine, by a
// number that its kernel drew when it started, and the space on it in which processes
// find each other and can share memory, which is that of its namespaces too. Either is
// "" if it cannot be known.
func Identity() (machine, space string) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	machine = strings.TrimSpace(string(text))
	if err != nil || machine == "" {
		return "", ""
	}
	space = machine
	for _, kind := range []string{"net", "pid"} {
		link, err := os.Readlink("/proc/thread-self/ns/" + kind)
		if err != nil {
			return machine, ""
		}
		space += " " + link
	}
	return machine, space
}
