package hostlist

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Limits of a list, so that a few bytes cannot stand for endless hosts.
const (
	MaxHosts = 1 << 16 // names in a list, with repetitions
	MaxSlots = 1 << 16 // slots of a host
	maxName  = 255     // bytes of a name
)

// A Host is one host of a list.
type Host struct {
	Name  string // as ssh takes it: a name, user@name or an address
	Slots int    // number of ranks that it is for; 0 if the list does not say
}

// Parse parses a list from a command line: hosts with commas between them. A host is a name, a name with ranges such as
// node[01-16,20], or one of these with :SLOTS. An IPv6 address with slots is written in brackets: [fe80::1]:4. The
// result has a host as often as the list names it: see Merge.
func Parse(list string) ([]Host, error) {
	var hosts []Host
	words, err := split(list)
	if err != nil {
		return nil, err
	}
	for _, word := range words {
		if hosts, err = appendHosts(hosts, word); err != nil {
			return nil, err
		}
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("weft: the list of hosts %s is empty", quote(list))
	}
	return hosts, nil
}

// Expand returns the names in a list such as Slurm's n[1-3,7],m2, in its order. Names have no slots.
func Expand(list string) ([]string, error) {
	hosts, err := Parse(list)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(hosts))
	for i, h := range hosts {
		if h.Slots > 0 {
			return nil, fmt.Errorf("weft: hosts %s: %s has slots, and a list of names has none", quote(list), h.Name)
		}
		names[i] = h.Name
	}
	return names, nil
}

// Merge returns each host once, at its first place in the list, with the sum of its slots; a place without a number
// counts as one slot. A host that is named once keeps 0 if the list does not say.
func Merge(hosts []Host) []Host {
	var merged []Host
	at := map[string]int{}
	for _, h := range hosts {
		i, ok := at[h.Name]
		if !ok {
			at[h.Name] = len(merged)
			merged = append(merged, h)
			continue
		}
		merged[i].Slots = max(merged[i].Slots, 1) + max(h.Slots, 1)
	}
	return merged
}

// Counts parses a list of counts in Slurm's format: 4,1(x2) stands for 4, 1 and 1.
func Counts(list string) ([]int, error) {
	var counts []int
	for word := range strings.SplitSeq(list, ",") {
		number, times, repeated := strings.Cut(word, "(x")
		repeat := 1
		n, err := count(number, MaxSlots)
		if err == nil && repeated {
			digits, closed := strings.CutSuffix(times, ")")
			if repeat, err = count(digits, MaxHosts); !closed {
				err = strconv.ErrSyntax
			}
		}
		if err != nil || len(counts)+repeat > MaxHosts {
			return nil, fmt.Errorf("weft: the list of counts %s: %s is no count such as 4 or 1(x2), of at most %d hosts",
				quote(list), quote(word), MaxHosts)
		}
		for range repeat {
			counts = append(counts, n)
		}
	}
	return counts, nil
}

// split cuts a list at the commas that are not in brackets.
func split(list string) (words []string, err error) {
	depth := 0
	from := 0
	for i, c := range list {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				words = append(words, list[from:i])
				from = i + 1
			}
		}
		if depth < 0 || depth > 1 {
			return nil, fmt.Errorf("weft: hosts %s: the brackets do not match", quote(list))
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("weft: hosts %s: the brackets do not match", quote(list))
	}
	return append(words, list[from:]), nil
}

// appendHosts appends the hosts of one word of a list.
func appendHosts(hosts []Host, word string) ([]Host, error) {
	word = strings.TrimSpace(word)
	if word == "" {
		return hosts, nil // two commas in a row
	}
	pattern, slots, err := cutSlots(word)
	if err != nil {
		return nil, err
	}
	names, err := expand(pattern, MaxHosts-len(hosts))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := check(name); err != nil {
			return nil, err
		}
		hosts = append(hosts, Host{name, slots})
	}
	return hosts, nil
}

// cutSlots takes the slots off a word. An address of IPv6 loses its brackets.
func cutSlots(word string) (pattern string, slots int, err error) {
	pattern = word
	text := ""
	address, after, _ := strings.Cut(strings.TrimPrefix(word, "["), "]")
	if word[0] == '[' && isIPv6(address) {
		pattern = address
		text = after
	} else if strings.Count(word, ":") == 1 {
		pattern, text, _ = strings.Cut(word, ":")
		text = ":" + text
	}
	if text == "" {
		return pattern, 0, nil
	}
	slots, err = count(strings.TrimPrefix(text, ":"), MaxSlots)
	if err != nil || slots == 0 || text[0] != ':' {
		return "", 0, fmt.Errorf("weft: host %s: slots are a number from 1 to %d after a colon", quote(word), MaxSlots)
	}
	return pattern, slots, nil
}

// check refuses a text that cannot be the name of a host: above all one that ssh would take for an option, or that a
// shell would not take for one word.
func check(name string) error {
	ok := name != "" && len(name) <= maxName && name[0] != '-' && name[len(name)-1] != '@'
	for _, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.ContainsRune("-_.@:%", c):
		default:
			ok = false
		}
	}
	if _, host, _ := strings.Cut(name, "@"); strings.HasPrefix(host, "-") {
		ok = false
	}
	if strings.Contains(name, ":") && !isIPv6(name) {
		ok = false
	}
	if !ok {
		return fmt.Errorf("weft: %s is no name of a host: letters, digits and -_.@:%% only, and no - first", quote(name))
	}
	return nil
}

func isIPv6(text string) bool {
	a, err := netip.ParseAddr(text)
	return err == nil && a.Is6()
}

// count reads a number from 0 to most, of digits alone.
func count(digits string, most int) (int, error) {
	n, err := strconv.ParseUint(digits, 10, 31)
	if err == nil && n > uint64(most) {
		err = strconv.ErrRange
	}
	return int(n), err
}

// quote returns the beginning of a text from outside, quoted for an error.
func quote(text string) string {
	const most = 80
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}
