package sys

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// OnCPUs runs f on some processors alone: on this thread, and with it what f starts.
func OnCPUs(cpus []int, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("weft: processors %v: %w", cpus, os.NewSyscallError("sched_setaffinity", err))
	}
	err := f()
	if back := unix.SchedSetaffinity(0, &before); back != nil {
		runtime.LockOSThread() // this thread is of no use to others: it ends with its goroutine
	}
	return err
}

// Affinity returns the processors that this process may use.
func Affinity() (cpus []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for cpu := range 64 * len(set) {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// Cores returns the cores that this process may use, each as its processors (hardware
// threads).
func Cores() (cores [][]int) {
	at := map[string]int{}
	for _, cpu := range Affinity() {
		name := "/sys/devices/system/cpu/cpu" + strconv.Itoa(cpu) + "/topology/thread_siblings_list"
		text, err := os.ReadFile(name)
		core := strings.TrimSpace(string(text))
		if err != nil || core == "" {
			core = strconv.Itoa(cpu)
		}
		i, known := at[core]
		if !known {
			i = len(cores)
			at[core] = i
			cores = append(cores, nil)
		}
		cores[i] = append(cores[i], cpu)
	}
	return cores
}
