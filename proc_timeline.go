package weft

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"weft/internal/bootstrap"
	"weft/internal/engine"
	"weft/internal/timeline"
)

// envTimeline makes a rank record what it does and when, for weft run -timeline.
const envTimeline = "WEFT_TIMELINE"

// errTimeline reports a job whose launcher cannot join what its ranks record.
var errTimeline = errors.New("weft: " + envTimeline +
	" is set, but only weft run can join the timelines of the ranks: " +
	"start the job with weft run -timeline")

// A recorded is a launcher that takes the timeline of a rank.
type recorded interface {
	Record(chunk []byte) error
}

// startTimeline makes the process record what it does, if the environment asks for it.
func (p *Proc) startTimeline() error {
	if os.Getenv(envTimeline) == "" {
		return nil
	}
	if _, ok := p.src.(recorded); !ok {
		return errTimeline
	}
	os.Unsetenv(envTimeline) // jobs that the program may start are not meant
	p.timeline = timeline.New(timeline.Capacity(p.job.Size), nil)
	return nil
}

// endTimeline hands the timeline to the launcher.
func (p *Proc) endTimeline() error {
	to, ok := p.src.(recorded)
	if p.timeline == nil || !ok {
		return nil
	}
	var b bytes.Buffer
	if err := p.part().Write(&b); err != nil {
		return fmt.Errorf("weft: the timeline: %w", err)
	}
	for b.Len() > 0 {
		if err := to.Record(b.Next(bootstrap.MostRecord)); err != nil {
			return fmt.Errorf("weft: the launcher did not take the timeline: %w", err)
		}
	}
	return nil
}

// part returns what was recorded.
func (p *Proc) part() (part *timeline.Part) {
	p.node.Engine(func(*engine.Engine) { part = p.timeline.Part(p.job.Rank, p.job.Size, p.job.Host) })
	return part
}
