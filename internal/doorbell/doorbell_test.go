package doorbell

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"weft/internal/explore"
	"weft/internal/transport"
)

func doorbells(t testing.TB) map[string]transport.Doorbell {
	all := map[string]transport.Doorbell{"futex": NewFutex(new(uint32)), "chan": NewChan()}
	if p, err := NewPoll(); err == nil {
		t.Cleanup(p.Close)
		all["poll"] = p
	}
	return all
}

// No ring is lost: a sleeper that publishes its state and then looks once more
// never sleeps through a packet.
func TestNoRingIsLost(t *testing.T) {
	for name, bell := range doorbells(t) {
		t.Run(name, func(t *testing.T) {
			rounds := explore.Choose[int64](5000, 100000)
			var sent, taken atomic.Int64
			go func() {
				for range rounds {
					for sent.Load() > taken.Load() { // one packet at a time
						if sent.Load()%7 == 0 {
							runtime.Gosched()
						}
					}
					sent.Add(1)
					bell.Wake(true)
				}
			}()
			for taken.Load() < rounds {
				if sent.Load() > taken.Load() {
					taken.Add(1)
					continue
				}
				state := transport.Asleep
				if taken.Load()%2 == 0 {
					state = transport.Idle
				}
				bell.Set(state)
				if sent.Load() > taken.Load() {
					bell.Set(transport.Awake)
					continue
				}
				bell.Sleep(state, -1) // a ring that is lost ends this never
			}
		})
	}
}

func TestWhoIsWoken(t *testing.T) {
	for name, bell := range doorbells(t) {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				state  transport.State
				urgent bool
				rings  bool
			}{
				{transport.Awake, true, false},
				{transport.Awake, false, false},
				{transport.Idle, false, false},
				{transport.Idle, true, true},
				{transport.Asleep, false, true},
				{transport.Asleep, true, true},
			} {
				bell.Set(c.state)
				bell.Wake(c.urgent)
				if rang := bell.State() != c.state; rang != c.rings {
					t.Errorf("state %v, urgent %v: rang %v", c.state, c.urgent, rang)
				}
				bell.Set(transport.Awake)
				bell.Sleep(transport.Asleep, 0) // a ring that is left over
			}
		})
	}
}

func TestSleepEnds(t *testing.T) {
	for name, bell := range doorbells(t) {
		t.Run(name, func(t *testing.T) {
			bell.Set(transport.Asleep)
			bell.Sleep(transport.Asleep, time.Millisecond) // nobody rings
			bell.Sleep(transport.Asleep, 0)
			bell.Sleep(transport.Idle, -1) // the state is another
			if s := bell.State(); s != transport.Asleep {
				t.Errorf("the state became %v", s)
			}
			woke := make(chan bool)
			go func() {
				for bell.State() == transport.Asleep {
					bell.Sleep(transport.Asleep, -1)
				}
				close(woke)
			}()
			bell.Ring()
			<-woke
		})
	}
}

// TestChanSleepsUntilItRings: without a limit time ends no sleep.
func TestChanSleepsUntilItRings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bell := NewChan()
		bell.Set(transport.Asleep)
		woke := false
		go func() {
			bell.Sleep(transport.Asleep, -1)
			woke = true
		}()
		if synctest.Wait(); woke {
			t.Error("nobody has rung")
		}
		bell.Ring()
		if synctest.Wait(); !woke {
			t.Error("it sleeps on")
		}
	})
}
