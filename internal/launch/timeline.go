package launch

import (
	"fmt"
	"slices"

	"weft/internal/sys"
	"weft/internal/timeline"
	"weft/internal/timeline/traceevent"
)

// timelineEnv makes the ranks record what they do.
const timelineEnv = "WEFT_TIMELINE"

// countEnv makes each rank count what it sends to each other rank.
const countEnv = "WEFT_COUNT"

// mostRecorded bounds the bytes of recordings that the launcher accepts from all ranks of a job.
const mostRecorded = 1 << 30

// env returns the variables that the ranks get in addition to this process's environment.
func (j *Job) env() []string {
	env := slices.Clone(j.Env)
	if j.Timeline != "" {
		env = append(env, timelineEnv+"=1")
	}
	if j.Page != nil {
		env = append(env, countEnv+"=1")
	}
	return env
}

// openTimeline creates the file before the job runs, so that a file that cannot be created is an error at once. A job
// that is started again gets a new file each time.
func (r *Running) openTimeline() error {
	name := r.job.Timeline
	if name == "" {
		return nil
	}
	if r.job.Restart > 0 {
		name = fmt.Sprintf("%s.%d", name, r.job.Restart)
	}
	f, err := sys.CreateFresh(name)
	if err != nil {
		return fmt.Errorf("weft: the timeline: %w", err)
	}
	r.timeline = f
	r.server.Collect(mostRecorded)
	return nil
}

// writeTimeline writes the recordings of all ranks to the file.
func (r *Running) writeTimeline() {
	if r.timeline == nil {
		return
	}
	parts := make([]*timeline.Part, len(r.ranks))
	for rank := range r.ranks {
		b := r.server.Recorded(rank)
		if len(b) == 0 {
			continue
		}
		p, err := timeline.Parse(b)
		if err == nil && p.Rank != rank {
			err = fmt.Errorf("%w of this rank, but of rank %d", timeline.ErrPart, p.Rank)
		}
		if err != nil {
			r.report("weft run: the timeline of rank %d: %v\n", rank, err)
			continue
		}
		parts[rank] = p
	}
	s, err := traceevent.Write(r.timeline, parts)
	if closed := r.timeline.Close(); err == nil {
		err = closed
	}
	if err != nil {
		r.report("weft run: the timeline: %v\n", err)
		return
	}
	r.report("weft run: %s: %d events of %d ranks, for ui.perfetto.dev\n", r.timeline.Name(), s.Events,
		len(parts)-len(s.Absent))
	if s.Dropped > 0 {
		r.report("weft run: of what happened before these, %d events found no room\n", s.Dropped)
	}
	if s.Lost > 0 {
		r.report("weft run: %d events did not come, from ranks that were killed\n", s.Lost)
	}
	if len(s.Absent) > 0 {
		r.report("weft run: nothing came from ranks %v, which were killed or have not left the job\n", s.Absent)
	}
}
