package sys

import (
	"strconv"
	"strings"
)

// ListCPUs writes numbers of processors as a list of ranges: 0-3,8.
func ListCPUs(cpus []int) string {
	if len(cpus) == 0 {
		return "unknown"
	}
	var parts []string
	for i := 0; i < len(cpus); {
		last := i
		for last+1 < len(cpus) && cpus[last+1] == cpus[last]+1 {
			last++
		}
		part := strconv.Itoa(cpus[i])
		if last > i {
			part += "-" + strconv.Itoa(cpus[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, ",")
}
