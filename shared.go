package weft

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"weft/internal/counters"
	"weft/internal/engine/coord"
	"weft/internal/mem"
	"weft/internal/sys"
	"weft/internal/timeline"
	"weft/internal/transport"
	"weft/internal/waitgraph"
)

// A sharedBarrier is a barrier of members on one host: for each a count of its
// arrivals, in memory that all map. A phase is over when the least of them has
// reached it; nobody resets anything, so phases may overlap. (Spec §2.7.)
//
// With members on several hosts there is one on each, whose first member, the
// leader, takes part in a barrier of the leaders when all on its host have
// arrived, and then lets them go.
type sharedBarrier struct {
	b       *Barrier
	making  sync.Mutex
	region  *Region // of the first member
	met     bool    // this rank has arrived at the barrier over messages
	window  uint64
	mem     []byte
	mapped  *transport.Mapping // that mem is, at all but the first member
	local   []int              // the members on this host
	me      int                // among them
	cpus    int                // processors for them
	leaders *coord.Object
	latch   mem.Latch // of arrived
	arrived uint64
	done    atomic.Uint64 // a phase that is known to be over
	entered uint64        // leader: the last phase of the leaders at which this one has arrived
	asleep  uint64        // the phase that a goroutine sleeps for, or 0
	since   time.Duration
	cancels context.Context // whose end wakes sleepers
	forget  func() bool     // ends that
	closed  bool
	turn    chan struct{} // leader: held by the goroutine that takes part for the host
}

// Where things are in the memory. A member's count lies in a line of its own.
const (
	atSeq      = 0  // futex: changes when sleepers must look again
	atSleepers = 8  // who sleep on it
	atReleased = 16 // two levels: the last phase that is over everywhere
	atBroken   = 24 // two levels: a member that is gone, plus 1
	atCounts   = 64
	stride     = 64
)

// left marks the count of one who has left.
const left = 1 << 63

// share makes the barrier in shared memory, or finds the one of that name.
func (b *Barrier) share(ctx context.Context, algorithm BarrierAlgorithm, c coord.Config) error {
	var hosts []onHost
	var err error
	if b.p.hasHost() {
		if hosts, err = b.hosts(ctx); err != nil {
			return err
		}
	}
	if hosts == nil || algorithm == BarrierShared && len(hosts) > 1 {
		return &StateError{Name: b.name, Do: "use barrier", Err: ErrMisuse, Why: fmt.Sprintf("its algorithm is %q, and not all members share memory with this rank", algorithm)}
	}
	c.Algorithm, c.Arity, c.Memory = coord.Tree, 8, 1
	if len(hosts) > 1 {
		c.Memory = 2
	}
	if b.o, err = b.p.object(c); err != nil {
		return err
	}
	b.p.mu.Lock()
	s := b.p.barriers[b.o.ID]
	if s == nil {
		s = &sharedBarrier{b: b, window: uint64(c.Window), cpus: int(sys.CPUs()), turn: make(chan struct{}, 1)}
		b.p.barriers[b.o.ID] = s
	}
	b.p.mu.Unlock()
	s.making.Lock()
	defer s.making.Unlock()
	if s.mem == nil {
		if err := s.make(ctx, hosts); err != nil {
			return err
		}
	}
	b.shared = s
	return nil
}

// make maps the memory of those on this host. Before, all members meet in a barrier
// over messages, so that those who disagree find out, and the memory is there. If
// ctx ends it can be called again.
func (s *sharedBarrier) make(ctx context.Context, hosts []onHost) (err error) {
	p, o := s.b.p, s.b.o
	here := hosts[slices.IndexFunc(hosts, func(h onHost) bool { return slices.Contains(h.members, p.job.Rank) })]
	s.local, s.me = here.members, slices.Index(here.members, p.job.Rank)
	name := fmt.Sprintf("weft/barrier/%x", o.ID)
	if s.me == 0 && s.region == nil {
		if s.region, err = p.expose(ctx, name, atCounts+stride*len(s.local), nil); err != nil {
			return err
		}
	}
	if !s.met {
		if _, err := p.node.Coordinate(ctx, o, coord.Arrive, 0); err != nil {
			return err
		}
		s.met = true
	}
	if _, err := p.node.Coordinate(ctx, o, coord.Await, 1); err != nil {
		return err
	}
	if len(hosts) > 1 && s.me == 0 {
		var firsts []int
		for _, h := range hosts {
			firsts = append(firsts, h.members[0])
		}
		l := coord.Config{Class: coord.Barrier, Name: s.b.name + "\x00leaders", Members: firsts, Algorithm: coord.Dissemination, Window: 1}
		if s.leaders, err = p.node.Object(l); err != nil {
			return err
		}
	}
	if s.me == 0 {
		s.mem = s.region.Bytes()
		return nil
	}
	r, err := p.attach(ctx, s.local[0], name)
	if err != nil {
		return err
	}
	if r.direct == nil || r.direct.ReadOnly || len(r.direct.Bytes) < atCounts+stride*len(s.local) {
		return fmt.Errorf("weft: barrier %q: the memory of rank %d cannot be mapped", s.b.name, s.local[0])
	}
	s.mapped = r.direct
	s.mem = r.direct.Bytes
	return nil
}

// hasHost reports whether ranks may share a host: in a simulation only where the
// cluster says so.
func (p *Proc) hasHost() bool { return !p.node.Hosted() || p.job.Crowd > 1 }

// onHost is the members that share a host.
type onHost struct {
	name    string
	members []int
}

// hosts returns the members by host, in the order of the members. A member without
// shared memory, as one that is alone on its host, counts as a host of its own. All
// members come to the same: each says of itself what its card tells the others.
func (b *Barrier) hosts(ctx context.Context) (hosts []onHost, err error) {
	for i := range b.size() {
		rank, name, shares := b.member(i), b.p.job.Host, b.p.memory != nil
		if rank != b.p.job.Rank && b.p.job.Local < b.p.job.Size {
			text, err := b.p.src.Get(ctx, rank, "card")
			if err != nil {
				return nil, err
			}
			c, err := parseCard(text)
			if err != nil {
				return nil, err
			}
			name, shares = c.Host, c.Shm != ""
		}
		if !shares {
			name = fmt.Sprintf("%s, rank %d", name, rank)
		}
		at := slices.IndexFunc(hosts, func(h onHost) bool { return h.name == name })
		if at < 0 {
			at = len(hosts)
			hosts = append(hosts, onHost{name: name})
		}
		hosts[at].members = append(hosts[at].members, rank)
	}
	return hosts, nil
}

// choose chooses an algorithm, from what all members know alike.
func (b *Barrier) choose(ctx context.Context) (algorithm BarrierAlgorithm, why string, err error) {
	n := b.size()
	messages := b.p.cfg.Transport == "udp" || b.p.cfg.Transport == "tcp" || !b.p.hasHost() // and nothing else
	switch {
	case n == 1:
		return BarrierDissemination, "this rank is alone", nil
	case b.p.memory != nil && b.p.job.Local == b.p.job.Size:
		return BarrierShared, fmt.Sprintf("all %d members are on this host: each counts in memory that all map", n), nil
	case b.p.job.Local < b.p.job.Size && !messages:
		hosts, err := b.hosts(ctx)
		if err != nil {
			return "", "", err
		}
		if len(hosts) < n {
			return BarrierTwoLevel, fmt.Sprintf("%d members on %d hosts", n, len(hosts)), nil
		}
	}
	return BarrierDissemination, fmt.Sprintf("%d members, each on its own: the fewest messages one after another", n), nil
}

func (s *sharedBarrier) count(i int) (arrived uint64, gone bool) {
	v := mem.Load64(s.mem, atCounts+stride*i)
	return v &^ left, v&left != 0
}

// arrive counts an arrival, and wakes those who sleep if it was the last.
func (s *sharedBarrier) arrive() (phase uint64, err error) {
	s.latch.Lock()
	if s.b.p.node.Closing() {
		s.latch.Unlock()
		return 0, ErrClosed
	}
	if s.arrived-s.done.Load() >= s.window {
		for s.arrived > s.done.Load() && s.over(s.done.Load()+1) {
			s.done.Add(1)
		}
		if s.arrived-s.done.Load() >= s.window {
			s.latch.Unlock()
			return 0, &WindowError{Name: s.b.name, Open: int(s.window)}
		}
	}
	s.arrived++
	phase = s.arrived
	// To wait until the others can see this takes as long as to see them arrive. One
	// who goes to sleep at this moment may so be missed: he looks again soon.
	mem.Publish64(s.mem, atCounts+stride*s.me, phase)
	s.latch.Unlock()
	if mem.Load64(s.mem, atSleepers) > 0 && s.here(phase) {
		s.rouse()
	}
	return phase, nil
}

// here reports whether all members on this host have arrived at a phase.
func (s *sharedBarrier) here(phase uint64) bool {
	for i := range s.local {
		if n, _ := s.count(i); n < phase {
			return false
		}
	}
	return true
}

// rouse wakes all who sleep.
func (s *sharedBarrier) rouse() {
	mem.Add64(s.mem, atSeq, 1)
	sys.FutexWake(mem.Word32(s.mem, atSeq), ^uint32(0))
}

// twoLevel reports whether there are members on other hosts.
func (s *sharedBarrier) twoLevel() bool { return s.b.o.Memory == 2 }

// over reports whether a phase is over.
func (s *sharedBarrier) over(phase uint64) bool {
	if s.twoLevel() {
		return mem.Load64(s.mem, atReleased) >= phase
	}
	return s.here(phase)
}

func (s *sharedBarrier) wait(ctx context.Context) error {
	began := s.b.p.mark()
	phase, err := s.arrive()
	if err != nil {
		return err
	}
	err = s.await(ctx, phase)
	if p := s.b.p; p.timeline != nil {
		p.note(began, timeline.Pass, s.b.o.ID, timeline.Nobody, int(phase), err)
	}
	return err
}

// await waits until a phase is over: it polls, or gives way to others if there
// are more ranks than processors, and then sleeps.
func (s *sharedBarrier) await(ctx context.Context, phase uint64) error {
	if s.b.p.node.Closing() {
		return ErrClosed
	}
	if phase <= s.done.Load() {
		return nil
	}
	if s.leaders != nil {
		return s.lead(ctx, phase)
	}
	if s.poll(phase, func() bool { return s.over(phase) }) {
		s.learn(phase)
		return nil
	}
	err := s.sleep(ctx, phase, (*sharedBarrier).over)
	if err == nil {
		s.learn(phase)
	}
	return err
}

// learn notes that a phase is over.
func (s *sharedBarrier) learn(phase uint64) {
	if s.done.Load() < phase {
		s.done.Store(phase)
	}
}

// missing returns how many on this host have not arrived at a phase.
func (s *sharedBarrier) missing(phase uint64) (n int) {
	for i := range s.local {
		if at, _ := s.count(i); at < phase {
			n++
		}
	}
	return n
}

// looks is how often it is looked before time is.
const looks = 64

// poll looks until cond holds, and reports whether it does, or whether it has
// looked long enough.
func (s *sharedBarrier) poll(phase uint64, cond func() bool) bool {
	w := s.b.p.wait
	if cond() {
		return true
	}
	if w.Yields > 0 && len(s.local) <= 2*s.cpus && s.missing(phase) < s.cpus {
		// All who are missing may be running, on the other processors: to give this
		// one to somebody who has arrived would only take longer.
		for range looks {
			sys.Pause()
			if cond() {
				return true
			}
		}
	}
	for range w.Yields {
		if w.InProcess {
			runtime.Gosched()
		} else {
			sys.Yield()
		}
		if cond() {
			return true
		}
	}
	if w.Budget == 0 {
		return false
	}
	var end, now time.Time
	defer func() {
		if !end.IsZero() {
			s.b.p.node.Waited(counters.HostBarrier, w.Budget-end.Sub(now), 0)
		}
	}()
	for {
		for range looks {
			if cond() {
				return true
			}
			sys.Pause()
		}
		s.b.p.node.Assist()
		if now = time.Now(); end.IsZero() {
			end = now.Add(w.Budget)
		}
		if now.After(end) {
			return false
		}
	}
}

// One who sleeps looks again after soon, for an arrival that it did not see and
// that did not see it, and then every recheck, whether all that it waits for live.
const (
	soon    = 50 * time.Microsecond
	recheck = 100 * time.Millisecond
)

// sleep sleeps until cond holds, which the arrival at a phase of all on this host
// makes true, or it cannot any more.
func (s *sharedBarrier) sleep(ctx context.Context, phase uint64, cond func(s *sharedBarrier, phase uint64) bool) error {
	if s.b.p.node.Hosted() {
		return s.sleepHosted(ctx, phase, cond)
	}
	s.note(ctx, phase, s.b.p.Now())
	defer s.note(ctx, 0, 0)
	nap := s.b.p.node.Asleep(counters.HostBarrier, phase, s.b.name)
	defer s.b.p.node.Awake(nap)
	word := mem.Word32(s.mem, atSeq)
	mem.Add64(s.mem, atSleepers, 1)
	defer mem.Add64(s.mem, atSleepers, ^uint64(0))
	for d := soon; ; d = recheck {
		seen := uint32(mem.Load64(s.mem, atSeq))
		if cond(s, phase) {
			return nil
		}
		if err := s.lost(phase); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return s.explain(phase, err)
		}
		sys.FutexWait(word, seen, d, ^uint32(0))
	}
}

// sleepHosted is sleep in a simulation, where nobody has to be woken: the world looks
// whether the wait is over.
func (s *sharedBarrier) sleepHosted(ctx context.Context, phase uint64, cond func(s *sharedBarrier, phase uint64) bool) error {
	n := s.b.p.node
	err := n.AwaitHosted(ctx, func() bool { return cond(s, phase) || n.Closing() || s.lost(phase) != nil })
	switch {
	case cond(s, phase):
		return nil
	case n.Closing():
		return ErrClosed
	case err != nil:
		return s.explain(phase, err)
	}
	return s.lost(phase)
}

// note notes since when a phase has been waited for; 0: it is not. The end of ctx
// wakes those who sleep. The last one is remembered: programs wait again and again
// with the same. Should another take its place, recheck is soon enough.
func (s *sharedBarrier) note(ctx context.Context, phase uint64, since time.Duration) {
	s.b.p.mu.Lock()
	defer s.b.p.mu.Unlock()
	s.asleep, s.since = phase, since
	if s.cancels == ctx || s.closed {
		return
	}
	if s.forget != nil {
		s.forget()
		s.forget = nil
	}
	if s.cancels = ctx; ctx.Done() != nil {
		s.forget = context.AfterFunc(ctx, s.cancelled)
	}
}

func (s *sharedBarrier) cancelled() {
	s.b.p.mu.Lock()
	defer s.b.p.mu.Unlock()
	if !s.closed { // else the memory may be gone
		s.rouse()
	}
}

// report adds what this rank says of the barrier to a report.
func (s *sharedBarrier) report(r *waitgraph.Report) {
	if !s.making.TryLock() {
		return // the barrier over messages is reported
	}
	defer s.making.Unlock()
	if s.mem == nil {
		return
	}
	t := waitgraph.Object{What: "barrier", Name: s.b.name, ID: s.b.o.ID, Members: s.b.cfg.Members, Done: s.done.Load()}
	t.Arrived, _ = s.count(s.me)
	for i := range r.Objects {
		if r.Objects[i].ID == t.ID && !r.Objects[i].Home { // it introduced the members
			r.Objects[i] = t
		}
	}
	s.b.p.mu.Lock()
	defer s.b.p.mu.Unlock()
	if s.asleep > 0 {
		r.Waits = append(r.Waits, waitgraph.Wait{
			For: "barrier", Name: s.b.name, ID: t.ID, Phase: s.asleep, Rank: waitgraph.AnyRank, Seconds: (s.b.p.Now() - s.since).Seconds(),
		})
	}
}

// lost returns the error if a phase will not be over any more.
func (s *sharedBarrier) lost(phase uint64) error {
	if s.b.p.node.Closing() {
		return ErrClosed
	}
	for i, rank := range s.local {
		n, gone := s.count(i)
		if n >= phase && !(i == 0 && s.twoLevel()) { // on the leader one depends longer
			continue
		}
		if cause := s.b.p.node.Gone(rank); cause != nil {
			return s.broken(phase, rank, public(cause))
		}
		if gone {
			return s.broken(phase, rank, &PeerError{Rank: rank, Cause: ErrClosed, Clean: true})
		}
	}
	if v := mem.Load64(s.mem, atBroken); v != 0 {
		return s.broken(phase, int(v-1), &PeerError{Rank: int(v - 1), Cause: errElsewhere})
	}
	return nil
}

var errElsewhere = errors.New("another member has found that out")

func (s *sharedBarrier) broken(phase uint64, rank int, cause error) error {
	return &BrokenError{Name: s.b.name, Phase: phase, Rank: rank, Err: cause}
}

// knows says who on this host has not arrived at a phase.
func (s *sharedBarrier) knows(phase uint64) string {
	var missing []int
	for i, rank := range s.local {
		if n, _ := s.count(i); n < phase {
			missing = append(missing, rank)
		}
	}
	switch {
	case len(missing) > 0:
		return fmt.Sprintf("of this host, ranks %v have not arrived at phase %d", missing, phase)
	case s.twoLevel():
		return "all on this host have arrived"
	}
	return ""
}

func (s *sharedBarrier) explain(phase uint64, err error) error {
	return waited(err, fmt.Sprintf("barrier %q, phase %d", s.b.name, phase), s.knows(phase))
}

// lead is await for the leader: it takes part for its host.
func (s *sharedBarrier) lead(ctx context.Context, phase uint64) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return s.explain(phase, ctx.Err())
	}
	for next := s.done.Load() + 1; next <= phase; next++ {
		arrived := func() bool { return s.here(next) }
		var err error
		if !s.poll(next, arrived) {
			err = s.sleep(ctx, next, (*sharedBarrier).here)
		}
		if err == nil && s.entered < next {
			s.entered = next
			_, err = s.b.p.node.Coordinate(ctx, s.leaders, coord.Arrive, 0)
		}
		if err == nil {
			_, err = s.b.p.node.Coordinate(ctx, s.leaders, coord.Await, next)
		}
		if err != nil {
			return s.explain(next, s.fail(public(err)))
		}
		mem.Store64(s.mem, atReleased, next)
		s.learn(next)
		if mem.Load64(s.mem, atSleepers) > 0 {
			s.rouse()
		}
	}
	return nil
}

// fail tells the others that a member is gone: those on this host, and the other
// leaders.
func (s *sharedBarrier) fail(err error) error {
	var broken *BrokenError
	if !errors.As(err, &broken) {
		return err
	}
	mem.Store64(s.mem, atBroken, uint64(broken.Rank)+1)
	s.rouse()
	_, _ = s.b.p.node.Coordinate(context.Background(), s.leaders, coord.Break, uint64(broken.Rank))
	return &BrokenError{Name: s.b.name, Phase: broken.Phase, Rank: broken.Rank, Err: broken.Err}
}

// absent marks this rank's count: it will not arrive any more. While a goroutine of
// this rank makes the barrier there is nothing to mark.
func (s *sharedBarrier) absent() {
	if s.making.TryLock() {
		s.mark()
		s.making.Unlock()
	}
}

func (s *sharedBarrier) mark() {
	if s.mem == nil {
		return
	}
	s.latch.Lock()
	mem.Store64(s.mem, atCounts+stride*s.me, s.arrived|left)
	s.latch.Unlock()
	s.rouse()
}

// leave is absent for the last time: the memory goes away.
func (s *sharedBarrier) leave() {
	s.making.Lock()
	defer s.making.Unlock()
	if s.mark(); s.mem == nil {
		return
	}
	s.note(context.Background(), 0, 0)
	s.b.p.mu.Lock()
	s.closed = true
	s.b.p.mu.Unlock()
}
