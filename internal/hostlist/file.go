package hostlist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds a line of a file.
const maxLine = 1 << 16

// ParseFile parses a file with one host on each line, in the formats of Open MPI and Hydra: a name, which may have
// ranges and :SLOTS, or a name and, after a blank, slots=SLOTS. It skips other words with =, which are for other
// launchers. A # begins a comment. Errors begin with the name of the file.
func ParseFile(name string, r io.Reader) ([]Host, error) {
	var hosts []Host
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	number := 0
	for in.Scan() {
		number++
		text, _, _ := strings.Cut(in.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		more, err := parseLine(words)
		if err == nil && len(hosts)+len(more) > MaxHosts {
			err = tooMany(words[0])
		}
		if err != nil {
			return nil, fmt.Errorf("weft: %s:%d: %s", name, number, strings.TrimPrefix(err.Error(), "weft: "))
		}
		hosts = append(hosts, more...)
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("weft: %s:%d: a line of more than %d bytes", name, number+1, maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("weft: %s: %w", name, err)
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("weft: %s names no host", name)
	}
	return hosts, nil
}

// parseLine reads the words of a line.
func parseLine(words []string) ([]Host, error) {
	hosts, err := Parse(words[0])
	if err != nil {
		return nil, err
	}
	for _, word := range words[1:] {
		key, value, found := strings.Cut(word, "=")
		if !found {
			return nil, fmt.Errorf("what is %s? After the name comes slots=NUMBER", quote(word))
		}
		if key != "slots" {
			continue // max_slots=, user=, binding=
		}
		slots, err := count(value, MaxSlots)
		if err != nil || slots == 0 {
			return nil, fmt.Errorf("%s: slots are a number from 1 to %d", quote(word), MaxSlots)
		}
		for i := range hosts {
			hosts[i].Slots = slots
		}
	}
	return hosts, nil
}
