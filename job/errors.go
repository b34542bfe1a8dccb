package job

import (
	"fmt"

	"weft/internal/launch"
)

// An ExitError reports that a rank of a Job has ended with a failure.
type ExitError struct {
	Rank   int
	Status int    // the exit status as a shell reports it: 128 + the signal's number after a signal
	Cause  string // such as "exit status 1"
	Output string // the last lines that the rank wrote
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("weft: rank %d: %s; it wrote %q", e.Rank, e.Cause, e.Output)
}

// A BuildError reports that the Go package in Config.Program could not be built: which Package, what the go command
// Said, and the error (Err) with which it ended.
type BuildError = launch.BuildError
