package transporttest

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"

	"weft/internal/handshake"
	"weft/internal/waittest"
)

// testHalfOpen: a thousand strangers that say nothing are dropped, all but a few,
// without their time having passed, and keep nobody out.
func testHalfOpen(s *stage) {
	const (
		strangers = 1000
		most      = 3 + 64
	) // the ranks of the job and PROTOCOL §8's few more
	limit(s.T, 4*strangers, 0)
	var silent []net.Conn
	for range strangers {
		silent = append(silent, s.knock())
	}
	s.stillGood()
	dropped := make(chan error, strangers)
	for _, c := range silent {
		c.SetDeadline(waittest.End())
		go func() {
			_, err := s.Hear(c, make([]byte, 1))
			dropped <- err
		}()
	}
	for range strangers - most {
		if err := <-dropped; err == nil || os.IsTimeout(err) {
			s.Fatalf("a stranger is still there: %v", err)
		}
	}
	s.victim.Close()
	s.victim = nil
	s.victim = s.open(genuine(0))
}

// testNoDescriptors: a listener that could accept nobody, for want of descriptors,
// goes on when there are some.
func testNoDescriptors(s *stage) {
	release := limit(s.T, 0, 64)
	var all []*os.File
	fill := func() {
		for {
			f, err := os.Open(os.DevNull)
			if errors.Is(err, syscall.EMFILE) {
				return
			}
			if err != nil || len(all) > 1000 {
				s.Fatalf("%d files, %v", len(all), err)
			}
			all = append(all, f)
		}
	}
	var c net.Conn
	waittest.Until(s, "it cannot accept without descriptors", func() bool {
		if fill(); c == nil {
			all[0].Close() // for the caller's end; none is left for the other
			all = all[1:]
			c = s.knock()
		}
		return s.Failures(s.victim) > 0
	})
	for _, f := range all {
		f.Close()
	}
	release()
	s.say(c, s.call(1, 0).Hello())
	s.hear(c, handshake.ReplySize) // it is accepted now
}

// limit sets how many descriptors this process may have: at least so many, or
// so many more than it has. The test's end, or the function returned, sets it back.
func limit(t testing.TB, least, more uint64) (restore func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	now := was
	if more > 0 {
		have, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		now.Cur = uint64(len(have)) + more
	} else if now.Cur = max(now.Cur, least); now.Cur > now.Max {
		t.Skipf("needs %d descriptors", least)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		t.Fatal(err)
	}
	restore = func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) }
	t.Cleanup(restore)
	return restore
}
