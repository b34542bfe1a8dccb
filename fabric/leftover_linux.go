package fabric

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"weft/internal/sys"
)

// Provider shm keeps an endpoint in a file, which stays behind when its process is killed: 16 MiB of memory. So weft
// gives these files names that say which process they belong to, and each rank that starts removes those of processes
// that have ended.
//
//	weft-NAMESPACE-PID-STARTED:...
//
// The namespace is that of process identifiers, and the process has started at STARTED, so that no other one is meant.

// sharedFiles is where they are.
const sharedFiles = "/dev/shm"

// ownFiles returns how the names of this process's files begin, or "" if the system does not say.
func ownFiles() string {
	started, err := sys.Started(os.Getpid())
	if err != nil {
		return ""
	}
	return filesOf(os.Getpid(), started)
}

func filesOf(pid int, started string) string {
	space, _ := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	return fmt.Sprintf("weft-%s-%d-%s", strings.Trim(space, "pid:[]"), pid, started)
}

// removeLeftovers removes the files of processes of this namespace that have ended, as far as this process may.
func removeLeftovers(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "weft-*-*-*:*"))
	for _, file := range files {
		var space, pid int
		var started string
		owner, _, _ := strings.Cut(filepath.Base(file), ":")
		_, err := fmt.Sscanf(owner, "weft-%d-%d-%s", &space, &pid, &started)
		if err != nil || owner != filesOf(pid, started) {
			continue
		}
		if now, err := sys.Started(pid); os.IsNotExist(err) || err == nil && now != started {
			_ = os.Remove(file)
		}
	}
}
