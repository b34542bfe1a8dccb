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

// moment takes the place of a mark for an operation that took no time worth showing. Zero is a mark: it
// is when a simulation begins.
const moment = -1

// mark reads the clock of the timeline, if there is one.
func (p *Proc) mark() int64 {
	if p.timeline == nil {
		return 0
	}
	return p.timeline.Now()
}

// note records an operation that was done without the node's lock, and that began at a mark or was a
// moment. The caller has checked that there is a timeline.
func (p *Proc) note(began int64, kind timeline.Kind, id uint64, peer, size int, err error) {
	now := p.timeline.Now()
	if began == moment {
		began = now
	}
	e := timeline.Event{Begin: began, End: now, ID: id, Size: uint64(size), Peer: int32(peer), Kind: kind}
	if err != nil {
		e.Flags = timeline.Failed
	}
	p.timeline.Share(e)
}

// leastNoted is the size, in bytes, from which accesses to mapped memory are recorded: a
// shorter access takes less time than recording it.
const leastNoted = 4 << 10
