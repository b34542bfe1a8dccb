package driver

import (
	"context"
	"sync/atomic"
	"time"

	"weft/failure"
	"weft/internal/counters"
	"weft/internal/interleave"
	"weft/internal/monotime"
	"weft/internal/sys"
)

// The pauses of a Poll that has spent its budget.
const (
	minPause = 20 * time.Microsecond
	maxPause = time.Millisecond
)

// eagerness is how long a wait with pauses may have taken for the next one to poll longer than
// its budget. The peer may pause as long as this process does: if each side gave up polling
// before the other one looks again, both would go on with pauses for ever.
const eagerness = 4 * maxPause

// memoryWaits holds the state of goroutines that wait for what another rank writes to memory.
type memoryWaits struct {
	written chan struct{} // closed when a peer's packet has asked for memory here; nil if none waits
	extra   atomic.Int64  // ns for which the next such wait polls; 0: Waiting.Budget
}

// Poll returns when cond holds, or with ctx's error, or ErrClosed. It is for conditions of which
// no packet tells: a peer that writes to mapped memory rings no doorbell. It polls as long
// as any wait does, and then looks again after pauses that grow to maxPause.
func (n *Node) Poll(ctx context.Context, cond func() bool) error {
	if ok, err := n.Spin(ctx, cond); ok || err != nil {
		return err
	}
	return n.Look(ctx, cond)
}

// Look is Poll that does not poll first.
func (n *Node) Look(ctx context.Context, cond func() bool) error {
	ctx = Endless(ctx)
	if n.cfg.Host != nil {
		return n.pollHosted(ctx, cond)
	}
	return n.pollSlowly(ctx, cond)
}

// Glance looks at a word as often as Spin looks before it does anything else, or until it differs from old, and returns
// it. On a host it looks once.
func (n *Node) Glance(word *atomic.Uint64, old uint64) (v uint64) {
	for made := range n.Looks() {
		if v = word.Load(); v != old {
			break
		}
		sys.Relax(made)
	}
	return v
}

// Looks returns how often a goroutine that waits for memory to change looks there before it looks for packets:
// seldom if packets change it.
func (n *Node) Looks() int {
	switch {
	case n.cfg.Host != nil:
		return 1
	case n.transports.network:
		return memoryGlancesCall
	}
	return memoryGlances
}

// Spin polls until cond holds, or for as long as any wait does. It reports whether
// cond holds.
func (n *Node) Spin(ctx context.Context, cond func() bool) (bool, error) {
	ctx = Endless(ctx)
	if n.cfg.Host != nil {
		return cond(), nil
	}
	var end, yield monotime.Time
	var as *Call                  // stands for this goroutine, if it polls the transports
	var began, last monotime.Time // when the clock was read first, and last
	defer func() {
		n.relieve(as)
		if last > began {
			n.Waited(counters.Memory, last.Sub(began), 0)
		}
	}()
	for round := 0; ; round++ {
		for made := range n.Looks() {
			if cond() {
				return true, nil
			}
			sys.Relax(made)
		}
		if as == nil && n.transports.network && !n.cfg.Wait.Interrupt {
			as = NewCall()
			as.duty.MakesWay = true
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if n.life.closing.Load() {
			return false, failure.ErrClosed
		}
		n.assist(as)
		if cond() {
			return true, nil
		}
		switch {
		case n.cfg.Wait.InProcess || n.company.waits.Load() > 0:
			n.cede()
		case round < n.cfg.Wait.Yields:
			interleave.Yield()
		}
		now := n.now()
		if end == 0 {
			end = now.Add(n.pollBudget())
			yield = now.Add(courtesy)
			began = now
		}
		last = now
		if now > yield {
			n.giveWay()
			yield = now.Add(courtesy)
		}
		if round >= n.cfg.Wait.Yields && now > end {
			return false, nil
		}
	}
}

// pollBudget returns how long to poll for memory to change: longer than otherwise, if the last
// such wait ended soon after its polling had ended.
func (n *Node) pollBudget() time.Duration {
	if n.cfg.Wait.Budget == 0 {
		return 0
	}
	return max(n.cfg.Wait.Budget, time.Duration(n.memory.extra.Swap(0)))
}

// pollSlowly looks after pauses, and where there is a network whenever a packet has accessed
// memory here.
func (n *Node) pollSlowly(ctx context.Context, cond func() bool) error {
	if n.transports.network {
		defer n.listen()()
	}
	began := n.now()
	pause := minPause
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		written := n.writes()
		if cond() {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-written:
			continue
		case <-timer.C:
		}
		if n.life.closing.Load() {
			return failure.ErrClosed
		}
		n.Assist()
		pause = min(2*pause, maxPause)
		timer.Reset(pause)
	}
	took := n.now().Sub(began)
	n.Waited(counters.Memory, 0, took)
	if took < eagerness {
		n.memory.extra.Store(int64(took + maxPause))
	}
	return nil
}

// listen makes every packet wake the service, as a parked goroutine does, until the returned
// function is called.
func (n *Node) listen() (end func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.duty.Expect()
	n.rest()
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.duty.Forgo()
	}
}

// writes returns a channel that is closed when the next packet has accessed memory here, or nil
// if there is no network, by which such packets come.
func (n *Node) writes() <-chan struct{} {
	if !n.transports.network {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.memory.written == nil {
		n.memory.written = make(chan struct{})
	}
	return n.memory.written
}

// Assist runs the protocol if no other goroutine does.
func (n *Node) Assist() { n.assist(nil) }

// assist is Assist for a goroutine that polls memory; as is a call that stands for it, or nil.
// Where there is a network the goroutine counts as polling until relieve. Otherwise every
// packet would wake the service, which would do what this goroutine does anyway.
func (n *Node) assist(as *Call) {
	n.turn()
	if !n.mu.TryLock() {
		return
	}
	defer n.mu.Unlock()
	if n.life.closed {
		return
	}
	if as != nil {
		n.carry(n.duty.Begin(&as.duty, n.streakTime()))
	}
	if p := n.duty.Poller(); p == nil || as != nil && p == &as.duty {
		n.progress()
	}
}

// relieve says that the goroutine for which a call stands has stopped polling.
func (n *Node) relieve(as *Call) {
	if as == nil {
		return
	}
	n.mu.Lock()
	if as.duty.Polls() {
		n.duty.Spent(&as.duty)
		n.restAfterPolling()
	}
	n.mu.Unlock()
	as.Free()
}
