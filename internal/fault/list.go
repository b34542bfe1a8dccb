package fault

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Syntax describes in a line how a List reads a fault.
const Syntax = "KIND [RANK,...] [at TIME] [after RANK:OPERATIONS] [for TIME] [by TIME]; " +
	"KIND is crash, pause, partition, slow or heal"

// A List is faults of a command line: each flag adds one (flag.Value).
type List []Fault

// String returns nothing: there is no default.
func (l *List) String() string { return "" }

// Set adds the fault that a text describes, such as "pause 1,2 at 3ms for 1ms".
func (l *List) Set(text string) error {
	f, err := parse(strings.Fields(text))
	if err != nil {
		return fmt.Errorf("%q: %w; a fault is %s", text, err, Syntax)
	}
	*l = append(*l, f)
	return nil
}

var errWords = errors.New("a word is missing")

// parse parses the words of a fault.
func parse(words []string) (f Fault, err error) {
	if len(words) == 0 {
		return f, errWords
	}
	if f.Kind = Kind(max(slices.Index(names[:], words[0]), 0)); f.Kind == 0 {
		return f, fmt.Errorf("there is no fault %q", words[0])
	}
	words = words[1:]
	if len(words) > 0 && words[0][0] >= '0' && words[0][0] <= '9' {
		for text := range strings.SplitSeq(words[0], ",") {
			rank, err := strconv.Atoi(text)
			if err != nil {
				return f, fmt.Errorf("%q is no rank", text)
			}
			f.Ranks = append(f.Ranks, rank)
		}
		words = words[1:]
	}
	for ; len(words) > 0 && err == nil; words = words[min(2, len(words)):] {
		if len(words) == 1 {
			return f, errWords
		}
		err = f.set(words[0], words[1])
	}
	return f, err
}

// set sets what a word of a fault's description says.
func (f *Fault) set(word, value string) (err error) {
	switch word {
	case "at":
		f.At, err = time.ParseDuration(value)
	case "for":
		f.For, err = time.ParseDuration(value)
	case "by":
		f.Delay, err = time.ParseDuration(value)
	case "after":
		rank, count, _ := strings.Cut(value, ":")
		var wrong error
		f.After.Rank, err = strconv.Atoi(rank)
		f.After.Count, wrong = strconv.Atoi(count)
		if err != nil || wrong != nil {
			err = fmt.Errorf("after %q: must be a rank and a number of operations, such as 0:100", value)
		}
	default:
		err = fmt.Errorf("it has the word %q", word)
	}
	return err
}
