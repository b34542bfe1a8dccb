package weft

import (
	"fmt"

	"weft/internal/bootstrap"
	"weft/internal/sim"
	"weft/internal/sim/fabric"
)

// An OptionError reports a setting whose value is not understood, or is not possible in this
// job: a word in Config, a text in Cluster, or a variable of the environment.
type OptionError struct {
	Option string // such as "Config.Guard", "Cluster.Topology" or "WEFT_GUARD"
	Value  string // what the program or the environment gave
	Takes  string // the values that the option takes, in words; empty if Err says what is wrong
	Err    error  // why the value cannot be used, such as a FileError; nil if Takes says it
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

// A FileError reports a line of a file that is not understood, or that describes something
// impossible. Cluster.Topology names such a file.
type FileError struct {
	File   string
	Line   int    // from 1 on
	Reason string // in words
}

func (e *FileError) Error() string { return (*fabric.FileError)(e).Error() }

// A MissingError reports that the context of Join ended while it waited for other ranks.
type MissingError struct {
	What  string // what these ranks had not done
	Ranks []int  // rank 0 always knows them; the other ranks learn them after ten seconds: until then it is empty
	Cause error  // the context's error
}

func (e *MissingError) Error() string { return (*bootstrap.MissingError)(e).Error() }

// Unwrap returns the context's error.
func (e *MissingError) Unwrap() error { return e.Cause }

// A JoinRefusedError reports that the rank that serves the job (rank 0) has not let this rank in.
type JoinRefusedError struct {
	Why      string // in words
	OtherJob bool   // the rank serves another job that has the same secret
	Cause    error  // if OtherJob, the error of Join's context: until it ends, Join looks for its own job
}

func (e *JoinRefusedError) Error() string { return (*bootstrap.RefusedError)(e).Error() }

// Unwrap returns the context's error, or nil.
func (e *JoinRefusedError) Unwrap() error { return e.Cause }

// publicStart returns an error of what joins or simulates a job as the type of this
// package that stands for it.
func publicStart(err error) error {
	switch e := err.(type) {
	case *sim.OptionError:
		return &OptionError{Option: clusterFields[e.Option], Value: e.Value, Takes: e.Takes}
	case *sim.TopologyError:
		return &OptionError{Option: clusterFields["topology"], Value: e.Value, Err: publicStart(e.Err)}
	case *fabric.FileError:
		return (*FileError)(e)
	case *bootstrap.MissingError:
		return (*MissingError)(e)
	case *bootstrap.RefusedError:
		return (*JoinRefusedError)(e)
	}
	return err
}

// clusterFields are the fields of Cluster by the simulator's names for them.
var clusterFields = map[string]string{"topology": "Cluster.Topology", "link": "Cluster.Link"}
