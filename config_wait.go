package weft

import (
	"fmt"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/driver"
	"weft/internal/sys"
)

// waiting chooses how goroutines wait. With more ranks than processors on a
// host, polling would burn the time slices of those it waits for.
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

// Waiting says how the goroutines of this process wait, and why so.
func (p *Proc) Waiting() string {
	w := p.wait
	cpus := fmt.Sprintf("%d ranks on %.3g processors", p.job.Crowd, sys.CPUs())
	switch {
	case w.Interrupt:
		return fmt.Sprintf("they poll for up to %v until another goroutine, which sleeps meanwhile, has brought the packet (%s)", w.Budget, envInterrupt)
	case w.InProcess:
		return "they let other goroutines run, then sleep (all ranks are goroutines)"
	case p.cfg.Spin != 0:
		return fmt.Sprintf("they poll for up to %v, then sleep (%s or Config.Spin says so)", w.Budget, envSpin)
	case w.Yields > 0:
		return fmt.Sprintf("they give way to others %d times, then sleep (%s)", w.Yields, cpus)
	default:
		return fmt.Sprintf("they poll for up to %v, then sleep (%s)", w.Budget, cpus)
	}
}
