package failure

import (
	"errors"
	"fmt"
	"strings"
)

// The conditions under which a job does not start, or ends.
var (
	// ErrOption: a setting has a value that is not understood, or is not possible in this job; see OptionError.
	ErrOption = errors.New("weft: bad option")
	// ErrLauncher: the connection to the launcher, or to the rank that serves the job in its place, has ended. The job
	// ends, too.
	ErrLauncher = errors.New("weft: the launcher is gone")
	// ErrSecret: the rank that serves the job has another secret than this one.
	ErrSecret = errors.New("rank 0's store is guarded by another secret: all ranks need the same WEFT_SECRET " +
		"or WEFT_SECRET_FILE")
	// ErrStuck: in a simulated job, all ranks wait for each other.
	ErrStuck = errors.New("weft: all ranks wait for each other")
)

// An OptionError reports a setting whose value is not understood, or is not possible in this job: a word in Config, a
// text in Cluster, or a variable of the environment.
type OptionError struct {
	Option string // such as "Config.Guard", "Cluster.Topology" or "WEFT_GUARD"
	Value  string // what the program or the environment gave
	Takes  string // the values that the option takes, in words; empty if Err says what is wrong
	Err    error  // why the value cannot be used; nil if Takes says it
}

func (e *OptionError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("weft: %s %q: %v", e.Option, e.Value, e.Err)
	}
	return fmt.Sprintf("weft: %s %q: it takes %s", e.Option, e.Value, e.Takes)
}

// Unwrap returns why the value cannot be used, or nil.
func (e *OptionError) Unwrap() error { return e.Err }

// Is makes every OptionError match ErrOption.
func (e *OptionError) Is(target error) bool { return target == ErrOption }

// A MissingError reports that the context of Join ended while it waited for other ranks.
type MissingError struct {
	What  string // what these ranks had not done
	Ranks []int  // rank 0 always knows them; the other ranks learn them after ten seconds: until then it is empty
	Cause error  // the context's error
}

func (e *MissingError) Error() string {
	if len(e.Ranks) == 0 {
		return fmt.Sprintf("weft: other ranks did not %s: %v", e.What, e.Cause)
	}
	return fmt.Sprintf("weft: %s did not %s: %v", Ranks(e.Ranks), e.What, e.Cause)
}

// Unwrap returns the context's error.
func (e *MissingError) Unwrap() error { return e.Cause }

// Ranks writes ranks in words: "rank 3", "ranks 1, 4-7".
func Ranks(ranks []int) string {
	var parts []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		switch j {
		case i:
			parts = append(parts, fmt.Sprint(ranks[i]))
		case i + 1:
			parts = append(parts, fmt.Sprint(ranks[i]), fmt.Sprint(ranks[j]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", ranks[i], ranks[j]))
		}
		i = j + 1
	}
	const most = 20
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("and more: %d in all", len(ranks)))
	}
	if len(ranks) == 1 {
		return "rank " + parts[0]
	}
	return "ranks " + strings.Join(parts, ", ")
}

// A JoinRefusedError reports that the rank that serves the job (rank 0) has not let this rank in.
type JoinRefusedError struct {
	Why      string // in words
	OtherJob bool   // the rank serves another job that has the same secret
	Cause    error  // if OtherJob, the error of Join's context: until it ends, Join looks for its own job
}

func (e *JoinRefusedError) Error() string {
	text := "weft: rank 0 does not let this rank in: " + e.Why
	if e.Cause != nil {
		text += fmt.Sprintf(" (%v)", e.Cause)
	}
	return text
}

// Unwrap returns the context's error, or nil.
func (e *JoinRefusedError) Unwrap() error { return e.Cause }
