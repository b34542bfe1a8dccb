package launch

import (
	"fmt"
	"strings"

	"weft/internal/hostlist"
)

// Spread returns the number of ranks for each host: n in all, or, if n is 0, one for each slot. It fills the hosts in
// their order. A host without a number of slots counts as one slot. If no host has a number and n is larger, the ranks
// are spread evenly, in blocks. If perHost is not 0, every host has that many slots instead.
func Spread(hosts []hostlist.Host, n, perHost int) (counts []int, err error) {
	slots := make([]int, len(hosts))
	total := 0
	said := perHost > 0
	for i, h := range hosts {
		slots[i] = max(h.Slots, 1)
		if perHost > 0 {
			slots[i] = perHost
		}
		total += slots[i]
		said = said || h.Slots > 0
	}
	switch {
	case n == 0:
		n = total
	case n > total && said:
		return nil, fmt.Errorf("weft: %d ranks are more than the %d slots of the hosts: %s", n, total,
			listSlots(hosts, slots))
	case n > total:
		for i := range slots {
			slots[i] = (n - i + len(hosts) - 1) / len(hosts)
		}
	}
	counts = make([]int, len(hosts))
	for i := range counts {
		counts[i] = min(slots[i], n)
		n -= counts[i]
	}
	return counts, nil
}

// listSlots names the slots of the first hosts.
func listSlots(hosts []hostlist.Host, slots []int) string {
	const few = 8
	var words []string
	for i, h := range hosts {
		if i == few {
			words = append(words, fmt.Sprintf("and %d more hosts", len(hosts)-few))
			break
		}
		words = append(words, fmt.Sprintf("%s:%d", h.Name, slots[i]))
	}
	return strings.Join(words, ", ")
}
