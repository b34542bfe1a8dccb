package weft

import (
	"fmt"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/driver"
	"weft/internal/sys"
)

// waiting chooses how goroutines wait. If there are more ranks on the host than processors, a
// goroutine that polls would use up the time slices of the ranks that it waits for.
func (c *Config) waiting(job bootstrap.Job) driver.Waiting {
	switch {
	case c.interrupt:
		return driver.Waiting{Budget: 250 * time.Microsecond, Interrupt: true}
	case c.Spin < 0:
		return driver.Waiting{}
	case c.Spin > 0:
		return driver.Waiting{Budget: c.Spin}
	case float64(job.Crowd) > sys.CPUs():
		return driver.Waiting{Yields: 16}
	default:
		return driver.Waiting{Budget: 250 * time.Microsecond}
	}
}

// Waiting says in words how the waiting goroutines of this process wait, and why.
func (p *Proc) Waiting() string {
	w := p.wait
	cpus := fmt.Sprintf("%d ranks on %.3g processors", p.job.Crowd, sys.CPUs())
	switch {
	case w.Interrupt:
		return fmt.Sprintf("they poll their own memory for up to %v; another goroutine sleeps until packets arrive and "+
			"delivers them (%s)",
			w.Budget, envInterrupt)
	case w.InProcess:
		return "they let other goroutines run, then sleep (all ranks are goroutines)"
	case p.cfg.Spin != 0:
		return fmt.Sprintf("they poll for up to %v, then sleep (%s or Config.Spin says so)", w.Budget, envSpin)
	case w.Yields > 0:
		return fmt.Sprintf("they yield the processor %d times, then sleep (%s)", w.Yields, cpus)
	default:
		return fmt.Sprintf("they poll for up to %v, then sleep (%s)", w.Budget, cpus)
	}
}
