package launch

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/process"
)

// A deaf is a host whose ranks are all about to end, and do not, until they are killed. On another signal rank 0 alone
// ends, late.
type deaf struct{ r *Running }

func (h deaf) Signal(id int, s syscall.Signal) bool {
	k := h.r.ranks[id]
	switch {
	case isClosed(k.ended):
	case s == syscall.SIGKILL:
		h.ends(k, process.Exit{Status: 128 + int(s), Signaled: true})
	case id == 0:
		time.AfterFunc(h.r.job.Grace-time.Millisecond, func() { h.ends(k, process.Exit{Status: 1}) })
	}
	return true
}

// ends ends a rank.
func (h deaf) ends(k *rank, e process.Exit) {
	e.At = time.Now()
	k.exit = e
	h.r.ends <- k
}

func (h deaf) Exiting() (ids []int) {
	for _, k := range h.r.ranks {
		ids = append(ids, k.number)
	}
	return ids
}

func (deaf) Start(process.Order, process.Streams, func(process.Exit)) (int, error) {
	panic("not called")
}
func (deaf) Stop(int) bool { panic("not called") }
func (deaf) Close() error  { panic("not called") }

// TestGraceIsKept: ranks are killed when the time after a signal is over, also while the launcher waits for ranks that
// are about to end, to see which failed first.
func TestGraceIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		failed bool // rank 1 has failed just before
		status int
	}{
		"a rank ends late":  {false, 128 + int(syscall.SIGINT)},
		"a rank had failed": {true, 7},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &Running{
				job: Job{N: 4, Grace: DefaultGrace}, ends: make(chan *rank, 4),
				server: bootstrap.NewServer(make([]bootstrap.Job, 4)),
				out:    &lines{}, errs: &lines{}, verdict: verdict{result: Result{Rank: -1}},
			}
			h := deaf{r}
			r.hosts = []host{h}
			for i := range r.job.N {
				r.ranks = append(r.ranks, &rank{number: i, place: place{host: h}, ended: make(chan struct{})})
			}
			if c.failed {
				h.ends(r.ranks[1], process.Exit{Status: 7})
			}
			signals := make(chan os.Signal)
			var came time.Time
			time.AfterFunc(time.Millisecond, func() {
				came = time.Now()
				signals <- os.Interrupt
			})
			r.wait(t.Context(), signals)
			if took := time.Since(came); took != DefaultGrace || r.result.Status != c.status {
				t.Errorf("%s: the job ends %v after the signal, with %+v", name, took, r.result)
			}
		})
	}
}
