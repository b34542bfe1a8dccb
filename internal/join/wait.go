package join

import (
	"fmt"
	"time"

	"weft/internal/driver"
	"weft/internal/sys"
)

// polling is how long a goroutine polls before it sleeps, unless Settings name a time.
const polling = 250 * time.Microsecond

// waiting chooses how goroutines wait. If there are more ranks on the host than processors, a
// goroutine that polls would use up the time slices of the ranks that it waits for.
func (m *Member) waiting() driver.Waiting {
	switch s := &m.Settings; {
	case s.Interrupt:
		return driver.Waiting{Budget: polling, Interrupt: true}
	case s.Spin < 0:
		return driver.Waiting{}
	case s.Spin > 0:
		return driver.Waiting{Budget: s.Spin}
	case float64(m.Job.Crowd) > sys.CPUs():
		return driver.Waiting{Yields: 16}
	default:
		return driver.Waiting{Budget: polling}
	}
}

// DescribeWaiting says in words how the waiting goroutines of this process wait, and why.
func (m *Member) DescribeWaiting() string {
	w := m.Waiting
	cpus := fmt.Sprintf("%d ranks on %.3g processors", m.Job.Crowd, sys.CPUs())
	switch {
	case w.Interrupt:
		return fmt.Sprintf("they poll their own memory for up to %v; another goroutine sleeps until packets arrive and "+
			"delivers them (%s)",
			w.Budget, EnvInterrupt)
	case w.InProcess:
		return "they let other goroutines run, then sleep (all ranks are goroutines)"
	case m.Settings.Spin != 0:
		return fmt.Sprintf("they poll for up to %v, then sleep (%s or Config.Spin says so)", w.Budget, EnvSpin)
	case w.Yields > 0:
		return fmt.Sprintf("they yield the processor %d times, then sleep (%s)", w.Yields, cpus)
	default:
		return fmt.Sprintf("they poll for up to %v, then sleep (%s)", w.Budget, cpus)
	}
}
