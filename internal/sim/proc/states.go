package proc

import (
	"runtime"
	"strings"
)

// A state is what a goroutine does, in the words of the runtime, and where in the program.
type state struct {
	doing   string
	where   string // file and line
	creator string // the number of the goroutine that started it
}

// String says what a thread does and at which call, for the report of a run that hangs.
func (s state) String() string {
	if s.where == "" {
		return s.doing
	}
	return s.doing + " at " + s.where
}

// states are the states of all goroutines at one moment, by their numbers.
type states map[string]state

// states returns what all goroutines do. ts.mu is held.
func (ts *Turns) states() states {
	n := runtime.Stack(ts.stacks, true)
	for n == len(ts.stacks) {
		ts.stacks = make([]byte, max(4*len(ts.stacks), 1<<16))
		n = runtime.Stack(ts.stacks, true)
	}
	return parseStates(string(ts.stacks[:n]))
}

// parseStates parses the output of runtime.Stack.
func parseStates(text string) states {
	all := states{}
	for block := range strings.SplitSeq(text, "\n\n") {
		id, rest, ok := strings.Cut(strings.TrimPrefix(block, "goroutine "), " ")
		head, body, _ := strings.Cut(rest, "\n")
		_, doing, ok2 := strings.Cut(head, "[")
		if !ok || !ok2 {
			continue
		}
		doing, _, _ = strings.Cut(strings.TrimSuffix(doing, "]:"), ",")
		doing, _, _ = strings.Cut(doing, " (")
		s := state{doing: doing}
		var in string
		for line := range strings.SplitSeq(body, "\n") {
			if maker, ok := strings.CutPrefix(line, "created by "); ok {
				_, s.creator, _ = strings.Cut(maker, " in goroutine ")
				break
			}
			at, isPlace := strings.CutPrefix(line, "\t")
			if isPlace && s.where == "" && !strings.HasPrefix(in, "runtime.") && !strings.HasPrefix(in, "sync.") &&
				!strings.HasPrefix(in, "internal/") {
				s.where, _, _ = strings.Cut(at, " +0x")
			} else if !isPlace {
				in = line
			}
		}
		all[id] = s
	}
	return all
}

// blocking are the states of goroutines that wait for others by the means of Go. A goroutine that waits for a timer
// of package time looks the same.
var blocking = map[string]bool{
	"chan receive": true, "chan send": true, "select": true, "select (no cases)": true,
	"sync.Mutex.Lock": true, "sync.RWMutex.RLock": true, "sync.RWMutex.Lock": true,
	"sync.Cond.Wait": true, "sync.WaitGroup.Wait": true,
}

// blocked reports whether a thread waits for other goroutines.
func (s states) blocked(id string) bool { return blocking[s[id].doing] }

// busy reports whether a goroutine is running that was started by a thread with a plain go statement: it may unblock
// a thread.
func (s states) busy(ids map[string]bool) bool {
	for more := true; more; {
		more = false
		for id, g := range s {
			if !ids[id] && ids[g.creator] {
				ids[id] = true
				more = true
			}
		}
	}
	for id, g := range s {
		running := g.doing == "running" || g.doing == "runnable" || g.doing == "preempted"
		if ids[id] && (running || strings.HasPrefix(g.doing, "GC ")) {
			return true
		}
	}
	return false
}

// goroutine returns the number of the calling goroutine, as the runtime prints it.
func goroutine() string {
	var b [32]byte // "goroutine 123 [running]:…"
	n := runtime.Stack(b[:], false)
	_, number, _ := strings.Cut(string(b[:n]), " ")
	number, _, _ = strings.Cut(number, " ")
	return number
}
