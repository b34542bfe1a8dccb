package hostlist

import (
	"fmt"
	"strconv"
	"strings"
)

// expand returns the names that a name with ranges stands for, or an error if there are too many. If a name has several
// ranges, the last one varies fastest.
func expand(pattern string, most int) ([]string, error) {
	before, rest, found := strings.Cut(pattern, "[")
	if !found {
		if most < 1 {
			return nil, tooMany(pattern)
		}
		return []string{pattern}, nil
	}
	ranges, after, closed := strings.Cut(rest, "]")
	if !closed {
		return nil, fmt.Errorf("weft: hosts %s: a [ has no ]", quote(pattern))
	}
	tails, err := expand(after, most)
	if err != nil {
		return nil, err
	}
	var names []string
	for part := range strings.SplitSeq(ranges, ",") {
		from, to, width, err := bounds(part)
		if err != nil {
			return nil, fmt.Errorf("weft: hosts %s: %w", quote(pattern), err)
		}
		if (to-from+1)*len(tails) > most-len(names) {
			return nil, tooMany(pattern)
		}
		for n := from; n <= to; n++ {
			for _, tail := range tails {
				names = append(names, fmt.Sprintf("%s%0*d%s", before, width, n, tail))
			}
		}
	}
	return names, nil
}

// bounds parses a range such as 01-16, or a single number. The numbers in its names have at least as many digits as the
// first one.
func bounds(part string) (from, to, width int, err error) {
	const most = 999999999 // what fits an int everywhere, and its products
	low, high, isRange := strings.Cut(part, "-")
	if !isRange {
		high = low
	}
	from, err = count(low, most)
	if err == nil {
		to, err = count(high, most)
	}
	if err == nil && (len(low) > len(strconv.Itoa(most)) || from > to || to-from >= MaxHosts) {
		err = strconv.ErrRange
	}
	if err != nil {
		return 0, 0, 0, fmt.Errorf("%s is no range such as 01-16 of at most %d hosts", quote(part), MaxHosts)
	}
	return from, to, len(low), nil
}

func tooMany(pattern string) error {
	return fmt.Errorf("weft: hosts %s: the list has more than %d hosts", quote(pattern), MaxHosts)
}
