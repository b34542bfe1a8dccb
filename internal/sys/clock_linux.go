package sys

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// SteadyTicks reports whether the kernel's own clock is the counter that Ticks reads: then the
// counter runs at one rate, and shows the same on all processors.
func SteadyTicks() bool {
	source, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	if err != nil {
		return false
	}
	switch strings.TrimSpace(string(source)) {
	case "tsc", "arch_sys_counter":
		return Ticks() != 0
	}
	return false
}

// Monotonic returns the kernel's monotonic clock in nanoseconds, which all processes of
// one ClockDomain share.
func Monotonic() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

// ClockDomain names the running kernel and the time namespace. Processes with the same name have
// the same monotonic clock.
func ClockDomain() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/time")
	return strings.TrimSpace(string(boot)) + " " + space
}
