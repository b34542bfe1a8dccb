package launch

import (
	"bytes"
	"testing"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/process"
)

// TestFirstToFail: of ranks that have ended together that one is blamed which failed first. A rank that says that it
// has failed because of another one is no cause, and neither is a rank that ended later, or by itself if a signal
// ended another one.
func TestFirstToFail(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	said := func(ms, because int) bootstrap.Failure {
		return bootstrap.Failure{Why: "it failed", Because: because, At: at(ms)}
	}
	silent := bootstrap.Failure{Because: -1}
	for name, c := range map[string]struct {
		ranks []rank // by number, in the order in which they were found
		want  int
	}{
		"a victim ended first": {[]rank{
			{number: 0, failure: said(1, 1), exit: process.Exit{Status: 1, At: at(2)}},
			{number: 1, failure: silent, exit: process.Exit{Status: 7, At: at(3)}},
		}, 1},
		"a victim of a victim": {[]rank{
			{number: 0, failure: said(1, 1), exit: process.Exit{Status: 1, At: at(2)}},
			{number: 1, failure: said(2, 2), exit: process.Exit{Status: 1, At: at(3)}},
			{number: 2, failure: silent, exit: process.Exit{Status: 2, At: at(4)}},
		}, 2},
		"a rank that says nothing": {[]rank{
			{number: 0, failure: silent, exit: process.Exit{Status: 1, At: at(5)}},
			{number: 1, failure: silent, exit: process.Exit{Status: 7, At: at(4)}},
		}, 1},
		"an error before an end": {[]rank{
			{number: 0, failure: silent, exit: process.Exit{Status: 3, At: at(5)}},
			{number: 1, failure: said(4, -1), exit: process.Exit{Status: 1, At: at(6)}},
		}, 1},
		"a signal": {[]rank{
			{number: 0, failure: silent, exit: process.Exit{Status: 1, At: at(1)}},
			{number: 1, failure: silent, exit: process.Exit{Status: 137, Signaled: true, At: at(2)}},
		}, 1},
		"each because of the other": {[]rank{
			{number: 0, failure: said(2, 1), exit: process.Exit{Status: 1, At: at(3)}},
			{number: 1, failure: said(1, 0), exit: process.Exit{Status: 1, At: at(4)}},
		}, 1},
		"because of a rank that left early": {[]rank{
			{number: 0, failure: said(1, 5), exit: process.Exit{Status: 1, At: at(2)}},
			{number: 1, failure: said(3, 0), exit: process.Exit{Status: 1, At: at(4)}},
		}, 0},
	} {
		r := &Running{job: Job{N: len(c.ranks)}}
		for i := range c.ranks {
			r.failed = append(r.failed, &c.ranks[i])
		}
		if r.blame(); r.result.Rank != c.want || r.result.Status != c.ranks[c.want].exit.Status {
			t.Errorf("%s: %+v", name, r.result)
		}
	}
}

// TestVictimIsFollowed: when the job has ended, the rank that a blamed one named is blamed in its place, if it had
// failed before the launcher ended the job.
func TestVictimIsFollowed(t *testing.T) {
	of := func(because int) bootstrap.Failure { return bootstrap.Failure{Why: "it failed", Because: because} }
	silent := bootstrap.Failure{Because: -1}
	byItself := process.Exit{Status: 7}
	killed := process.Exit{Status: 128 + 15, Signaled: true}
	for name, c := range map[string]struct {
		ranks        []rank // rank 0 was blamed
		want, status int
	}{
		"it ended late":            {[]rank{{failure: of(1)}, {late: true, failure: silent, exit: byItself}}, 1, 7},
		"it was killed, late":      {[]rank{{failure: of(1)}, {late: true, failure: silent, exit: killed}}, 1, 128 + 15},
		"it was killed, and spoke": {[]rank{{failure: of(1)}, {late: true, failure: of(-1), exit: killed}}, 1, 1},
		"it had not failed":        {[]rank{{failure: of(1)}, {failure: of(-1), exit: killed}}, 0, 3},
		"it ended well":            {[]rank{{failure: of(1)}, {late: true, failure: silent}}, 0, 3},
		"there is no such rank":    {[]rank{{failure: of(2)}, {late: true, failure: silent, exit: killed}}, 0, 3},
		"a victim of a victim": {[]rank{
			{failure: of(1)}, {late: true, failure: of(2), exit: byItself}, {late: true, failure: silent, exit: killed},
		}, 2, 128 + 15},
		"one that it did not name": {[]rank{{failure: silent}, {late: true, failure: silent, exit: byItself}}, 0, 3},
	} {
		r := &Running{job: Job{N: len(c.ranks)}, out: &lines{}, errs: &lines{}}
		c.ranks[0].exit.Status = 3
		for i := range c.ranks {
			c.ranks[i].number = i
			r.ranks = append(r.ranks, &c.ranks[i])
		}
		r.failed = r.ranks[:1]
		r.blame()
		if r.judge(); r.result.Rank != c.want || r.result.Status != c.status {
			t.Errorf("%s: %+v", name, r.result)
		}
	}
}

// TestLastWords: of a panic the line that tells it counts, not the last of the stacks.
func TestLastWords(t *testing.T) {
	const text = "starting\npanic: it broke\n\ngoroutine 1 [running]:\n\tmain.go:42 +0x8c5\n"
	var w lastWords
	(&lines{}).copy(bytes.NewBufferString(text), "", nil, &w)
	for status, want := range map[int]string{2: "panic: it broke", 1: "main.go:42 +0x8c5"} {
		if got := w.about(process.Exit{Status: status}); got != want {
			t.Errorf("status %d: %q", status, got)
		}
	}
}
