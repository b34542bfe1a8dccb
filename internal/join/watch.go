package join

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"weft/failure"
	"weft/internal/amt"
	"weft/internal/bootstrap"
	"weft/internal/counters"
	"weft/internal/counters/directory"
	"weft/internal/engine"
	"weft/internal/launch"
	"weft/internal/timeline"
)

// obey does what the environment says of this process, besides Settings: what is to be recorded of it.
func (m *Member) obey() error {
	for _, f := range []func() error{m.countStarts, m.startTrace, m.startTimeline, m.loadAMT} {
		if err := f(); err != nil {
			return err
		}
	}
	m.showCounters()
	return nil
}

// countStarts reads how often the job has been started again.
func (m *Member) countStarts() (err error) {
	text := os.Getenv(launch.RestartEnv)
	if text == "" {
		return nil
	}
	if m.Restarts, err = strconv.Atoi(text); err != nil || m.Restarts < 0 {
		return fmt.Errorf("weft: %s=%q: must be a number of at least 0", launch.RestartEnv, text)
	}
	return nil
}

// about names the variable of the environment that an error is about; nil stays nil.
func about(variable string, err error) error {
	if err != nil {
		return fmt.Errorf("weft: %s: %w", variable, err)
	}
	return nil
}

// startTrace makes the process count what it sends.
func (m *Member) startTrace() error {
	name := os.Getenv(EnvTrace)
	if name == "" {
		if os.Getenv(EnvCount) != "" {
			m.TraceInto(nil)
		}
		return nil
	}
	t, err := amt.CreateTracer(m.sender(), name)
	if err != nil {
		return about(EnvTrace, err)
	}
	m.trace(t)
	return nil
}

// TraceInto makes the process count what it sends, and write it to w, if that is not nil, when it leaves.
func (m *Member) TraceInto(w io.Writer) { m.trace(amt.NewTracer(m.sender(), w)) }

func (m *Member) trace(t *amt.Tracer) {
	m.Trace = t
	m.undo.add(func() error { return about(EnvTrace, t.Close()) })
}

// AtEach makes the process call began at each operation that a trace counts.
func (m *Member) AtEach(began func()) {
	if m.Trace == nil {
		m.TraceInto(nil)
	}
	m.Trace.Began = began
}

// sender describes this rank to a trace.
func (m *Member) sender() amt.Part {
	return amt.Part{Rank: m.Job.Rank, Size: m.Job.Size, Job: fmt.Sprintf("%x", m.Job.ID),
		Program: filepath.Base(os.Args[0])}
}

// errTimeline reports a job whose launcher cannot join what its ranks record.
var errTimeline = errors.New("weft: " + EnvTimeline +
	" is set, but only weft run can join the timelines of the ranks: " +
	"start the job with weft run -timeline")

// recorded is a launcher that takes the timeline of a rank.
type recorded interface {
	Record(chunk []byte) error
	OnRecord(send func())
}

// startTimeline makes the process record what it does and when.
func (m *Member) startTimeline() error {
	if os.Getenv(EnvTimeline) == "" {
		return nil
	}
	to, ok := m.Source.(recorded)
	if !ok {
		return errTimeline
	}
	os.Unsetenv(EnvTimeline) // jobs that the program may start are not meant
	m.Timeline = timeline.New(timeline.Capacity(m.Job.Size), nil)
	m.handOver = sync.OnceValue(func() error { return m.sendTimeline(to) })
	return nil
}

// endTimeline hands the timeline to the launcher, unless the launcher has asked for it before.
func (m *Member) endTimeline() error {
	if m.handOver == nil {
		return nil
	}
	return m.handOver()
}

// offerTimeline lets the launcher ask for the timeline, which it does before it kills this process.
func (m *Member) offerTimeline() {
	if to, ok := m.Source.(recorded); ok && m.handOver != nil {
		to.OnRecord(func() { _ = m.handOver() })
	}
}

func (m *Member) sendTimeline(to recorded) error {
	var b bytes.Buffer
	if err := m.Part().Write(&b); err != nil {
		return fmt.Errorf("weft: the timeline: %w", err)
	}
	for b.Len() > 0 {
		if err := to.Record(b.Next(bootstrap.MostRecord)); err != nil {
			return fmt.Errorf("weft: the launcher did not take the timeline: %w", err)
		}
	}
	return nil
}

// Part returns what the timeline has recorded.
func (m *Member) Part() (part *timeline.Part) {
	m.Node.Engine(func(*engine.Engine) { part = m.Timeline.Part(m.Job.Rank, m.Job.Size, m.Job.Host) })
	return part
}

// loadAMT takes what the job's AMT says of this rank's receive rings.
func (m *Member) loadAMT() error {
	table, err := LoadAMT(m.Job.Size)
	m.AMT = table.Share(m.Job.Rank)
	return err
}

// LoadAMT returns what the environment says of receive rings for a job of some size.
func LoadAMT(size int) (*amt.Table, error) {
	text := os.Getenv(EnvAMT)
	table, err := amt.Load(text, size)
	if err != nil {
		return nil, &failure.OptionError{Option: EnvAMT, Value: text, Err: err}
	}
	return table, nil
}

// showCounters makes the page of counters that other processes, such as weft top, can read. If that fails the
// process counts in memory of its own.
func (m *Member) showCounters() {
	if m.Job.Size == 1 {
		return // there are no peers
	}
	f, err := directory.Create(m.Job.ID, counters.Identity{
		Rank: m.Job.Rank, Size: m.Job.Size, PID: os.Getpid(), Started: time.Now().UnixNano(),
		Host: m.Job.Host, Program: filepath.Base(os.Args[0]),
	})
	if err != nil {
		return
	}
	m.page = f
	m.undo.add(func() error {
		_ = f.Close() // the next process sweeps up what is left
		return nil
	})
}
