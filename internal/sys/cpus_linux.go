package sys

import (
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// CPUs returns how many processors this process may use: those of its affinity
// mask, or fewer if a cgroup limits its share.
func CPUs() float64 {
	return CPUsWith(0)
}

// CPUsWith returns how many processors this process and another one may use together, as far as that can be known;
// with process 0, how many this one may use.
func CPUsWith(pid int) float64 {
	n := 1.0
	var set, other unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		if pid != 0 && unix.SchedGetaffinity(pid, &other) == nil {
			for i := range set {
				set[i] |= other[i]
			}
		}
		n = float64(set.Count())
	}
	if q := cgroupQuota(); q > 0 && q < n {
		n = q
	}
	return n
}

// cgroupQuota returns what readQuota returned at the first call. That reads a dozen files.
var cgroupQuota = sync.OnceValue(readQuota)

// readQuota returns the smallest CPU quota of this process's cgroup and its
// parents, in processors, or 0 if there is none.
func readQuota() float64 {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := 0.0
	lower := func(q float64) {
		if q > 0 && (least == 0 || q < least) {
			least = q
		}
	}
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		for dir := part[2]; ; dir = path.Dir(dir) {
			if part[0] == "0" {
				lower(quotaV2(path.Join("/sys/fs/cgroup", dir, "cpu.max")))
			} else if strings.Contains(part[1], "cpu") {
				lower(quotaV1(path.Join("/sys/fs/cgroup", part[1], dir)))
			}
			if dir == "/" || dir == "." {
				break
			}
		}
	}
	return least
}

// quotaV2 returns how many processors a control group of version 2 may use, from its cpu.max ("max 100000" or
// "50000 100000", in µs of each period); 0 if there is no limit.
func quotaV2(file string) float64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text))
	if len(f) != 2 {
		return 0
	}
	return ratio(f[0], f[1])
}

// quotaV1 returns the same for a control group of version 1, where a quota of -1 means no limit.
func quotaV1(dir string) float64 {
	quota, err := os.ReadFile(path.Join(dir, "cpu.cfs_quota_us"))
	if err != nil {
		return 0
	}
	period, err := os.ReadFile(path.Join(dir, "cpu.cfs_period_us"))
	if err != nil {
		return 0
	}
	return ratio(strings.TrimSpace(string(quota)), strings.TrimSpace(string(period)))
}

// ratio returns a/b, or 0 unless both are positive numbers.
func ratio(a, b string) float64 {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil || x <= 0 || y <= 0 {
		return 0
	}
	return x / y
}
