package weft

import (
	"fmt"
	"strings"

	"weft/internal/engine/msg"
)

// An UndeliveredError reports messages that Send had accepted here, and that the ports of
// their receivers had not accepted when this process left: nobody will receive them. Those
// for ranks that have died are not among them; those for a rank whose program returned
// without receiving them are.
type UndeliveredError struct{ Messages []Undelivered }

// Undelivered is how many messages to a rank on a channel were not accepted.
type Undelivered struct {
	Rank, Channel, Messages int
	Left                    bool // the rank left before it had accepted them
}

// undelivered returns an error if something is left.
func undelivered(left []msg.Backlog) error {
	if len(left) == 0 {
		return nil
	}
	e := &UndeliveredError{}
	for _, b := range left {
		e.Messages = append(e.Messages, Undelivered{b.Rank, int(b.Channel), b.Messages, b.Left})
	}
	return e
}

// mostUndelivered bounds how many ranks and channels the error's text names.
const mostUndelivered = 4

func (e *UndeliveredError) Error() string {
	var s strings.Builder
	s.WriteString("weft: not delivered: ")
	for i, u := range e.Messages {
		if i == mostUndelivered {
			fmt.Fprintf(&s, "; and to %d more", len(e.Messages)-i)
			break
		}
		if i > 0 {
			s.WriteString("; ")
		}
		why := "which has not opened it, or has no room and does not receive"
		if u.Left {
			why = "which left before"
		}
		fmt.Fprintf(&s, "%d messages on channel %d to rank %d, %s", u.Messages, u.Channel, u.Rank, why)
	}
	return s.String()
}

// Is makes every UndeliveredError match ErrUndelivered.
func (e *UndeliveredError) Is(target error) bool { return target == ErrUndelivered }
