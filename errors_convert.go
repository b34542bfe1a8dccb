package weft

import (
	"weft/internal/driver"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/inbox"
)

// public returns an error of the driver or the engine as the type of this package that
// stands for it. Every error that comes from below passes through it once. The types have
// the same fields, which the compiler checks, so most conversions only change the type.
func public(err error) error {
	if err == nil {
		return nil
	}
	switch e := err.(type) {
	case *link.PeerError:
		return publicPeer(e)
	case *driver.WaitError:
		return &WaitError{Doing: e.Doing, Knows: e.Knows, Err: public(e.Err)}
	case *driver.UnknownOutcome:
		return (*UnknownOutcomeError)(e)
	case *msg.TooLongError:
		return (*TooLongError)(e)
	case *msg.RevokedError:
		return (*RevokedError)(e)
	case *msg.FrozenError:
		return (*FrozenError)(e)
	case *msg.SavedError:
		return (*SavedError)(e)
	case *msg.ConfigError:
		return (*ConfigError)(e)
	case *rma.BoundsError:
		return (*BoundsError)(e)
	case *rma.MisalignedError:
		return (*MisalignedError)(e)
	case *rma.RegionError:
		return (*RegionError)(e)
	case *rma.MailboxError:
		return (*MailboxError)(e)
	case *inbox.RingError:
		return (*RingError)(e)
	}
	return publicCoord(err)
}

// publicCoord is public for the errors of locks, semaphores, conditions and barriers.
func publicCoord(err error) error {
	switch e := err.(type) {
	case *coord.StateError:
		return (*StateError)(e)
	case *coord.DisagreeError:
		return &ConfigMismatchError{Name: e.Name, Rank: e.Rank, Here: e.Here, There: e.There}
	case *coord.BrokenError: // all waiting goroutines share it
		return &BrokenError{Name: e.Name, Phase: e.Phase, Rank: e.Rank, Err: public(e.Err)}
	case *coord.WindowError:
		return (*WindowError)(e)
	case *coord.PlanError:
		return &PlanError{Algorithm: e.Algorithm.String(), N: e.N, Why: e.Why}
	}
	return err
}

// publicPeer is public for the end of a peer; nil stays nil.
func publicPeer(e *link.PeerError) *PeerError { return (*PeerError)(e) }

// waited says in an error what was waited for, if the context ended or a rank is gone. It
// replaces what the error said of that.
func waited(err error, doing, knows string) error {
	if w, ok := err.(*WaitError); ok {
		err = w.Err
	}
	if _, gone := err.(*PeerError); gone {
		return &WaitError{Doing: doing, Err: err}
	}
	if !givenUp(err) {
		return err
	}
	return &WaitError{Doing: doing, Knows: knows, Err: err}
}

// givenUp reports whether an error is that of a context that has ended.
func givenUp(err error) bool { return driver.GivenUp(err) }
