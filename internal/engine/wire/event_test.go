package wire

import "testing"

// same checks that an event keeps every field of what it was made of.
func same[T comparable](t *testing.T, want T, e Event, parse func(Event) T) {
	t.Helper()
	read, err := ParseEvent(e.Append(nil))
	if err != nil {
		t.Errorf("%+v: %v", want, err)
		return
	}
	if got := parse(read); got != want {
		t.Errorf("%v is read as %+v, and was made of %+v", e.Kind, got, want)
	}
}

// Each kind of event carries its fields to the other end, each in a place of its own.
func TestEvents(t *testing.T) {
	for _, try := range []bool{false, true} {
		v := LockRequest{Lock: 1, Serial: 2, Signature: 3, Try: try}
		same(t, v, v.Event(), ParseLockRequest)
		p := PermitRequest{ID: 1, Serial: 2, Permits: 3, Signature: 4, Try: try}
		same(t, p, p.Event(), ParsePermitRequest)
		r := PermitReply{ID: 1, Serial: 2, Epoch: 3, HolderDied: !try, Granted: try}
		same(t, r, r.Event(), ParsePermitReply)
		o := PhaseOpen{ID: 1, Phase: 2, Joined: try, Broken: !try, Rank: 3}
		same(t, o, o.Event(), ParsePhaseOpen)
	}
	back := LockReturn{Lock: 1, Repair: 2, Serial: 3, Epoch: 4, HolderDied: true}
	same(t, back, back.Event(), ParseLockReturn)
	back.ForTry = true
	back.TryRank = 5
	back.TrySerial = 6
	same(t, back, back.Event(), ParseLockReturn)
	state := LockState{Lock: 1, Repair: 2, State: 3, Serial: 4, Epoch: 5, PassedTo: 6, HolderDied: true}
	same(t, state, state.Event(), ParseLockState)
	state.State = 0
	state.Leaving = true
	same(t, state, state.Event(), ParseLockState)
	if !Leaving(state.Event()) || Leaving(back.Event()) {
		t.Error("a lock_return of a rank that leaves is not told from one with a token")
	}

	busy := LockBusy{Lock: 1, TryRank: 2, TrySerial: 3}
	same(t, busy, busy.Event(), ParseLockBusy)
	forward := LockForward{Lock: 1, Repair: 2, Serial: 3, Next: 4, NextSerial: 5}
	same(t, forward, forward.Event(), ParseLockForward)
	reply := LockReply{Lock: 1, Repair: 2, Serial: 3, Epoch: 4, HolderDied: true}
	same(t, reply, reply.Event(), ParseLockReply)
	deny := LockDeny{Lock: 1, Serial: 2}
	same(t, deny, deny.Event(), ParseLockDeny)
	tryFor := LockTryFor{Lock: 1, Repair: 2, Serial: 3, TryRank: 4, TrySerial: 5}
	same(t, tryFor, tryFor.Event(), ParseLockTryFor)
	probe := LockProbe{Lock: 1, Repair: 2}
	same(t, probe, probe.Event(), ParseLockProbe)

	release := PermitRelease{ID: 1, Permits: 2, Signature: 3}
	same(t, release, release.Event(), ParsePermitRelease)
	cancel := PermitCancel{ID: 1, Serial: 2, Signature: 3}
	same(t, cancel, cancel.Event(), ParsePermitCancel)

	wait := CondWait{ID: 1, Serial: 2, Signature: 3}
	same(t, wait, wait.Event(), ParseCondWait)
	set := CondSet{ID: 1, Serial: 2, Signature: 3, All: true}
	same(t, set, set.Event(), ParseCondSet)
	withdraw := CondCancel{ID: 1, Serial: 2, Signature: 3}
	same(t, withdraw, withdraw.Event(), ParseCondCancel)
	ack := CondAck{ID: 1, Serial: 2}
	same(t, ack, ack.Event(), ParseCondAck)
	wake := CondWake{ID: 1, Serial: 2}
	same(t, wake, wake.Event(), ParseCondWake)
	count := CondCount{ID: 1, Serial: 2, Woken: 3}
	same(t, count, count.Event(), ParseCondCount)

	arrive := PhaseArrive{ID: 1, Phase: 2, Signature: 3}
	same(t, arrive, arrive.Event(), ParsePhaseArrive)
	code := RegionSync{ID: 1, Member: 2, Distance: 3, Signature: 4}
	same(t, code, code.Event(), ParseRegionSync)
	broken := RegionBroken{ID: 1, Rank: 2, Signature: 3}
	same(t, broken, broken.Event(), ParseRegionBroken)
	goOn := RegionGo{ID: 1, Barrier: 2}
	same(t, goOn, goOn.Event(), ParseRegionGo)

	token := Token{ID: 1, Gate: 2, Phase: 3, Signature: 4, Time: 5, Relative: true}
	same(t, token, token.Event(), ParseToken)
	left := Left{ID: 1, Rank: 2, Phase: 3, Gone: true}
	same(t, left, left.Event(), ParseLeft)
	ping := Ping{ID: 1, Sent: 2}
	same(t, ping, ping.Event(), ParsePing)
	pong := Pong{ID: 1, Sent: 2, Time: 3}
	same(t, pong, pong.Event(), ParsePong)
	refuse := Refuse{ID: 1, Signature: 2, Rank: 3, Other: true}
	same(t, refuse, refuse.Event(), ParseRefuse)

	bound := Bound{Lock: 1, Epoch: 2}
	same(t, bound, bound.Event(), ParseBound)
	fence := FenceEpoch{Lock: 1, Epoch: 2}
	same(t, fence, fence.Event(), ParseFenceEpoch)
	fenced := Fenced{Lock: 1, Epoch: 2}
	same(t, fenced, fenced.Event(), ParseFenced)

	// Events that carry no more than what they are about, and a signature.
	for _, e := range []Event{
		Hello{ID: 1, Signature: 2}.Event(), PhaseJoin{ID: 1, Signature: 2}.Event(),
		PhaseLeave{ID: 1, Phase: 3, Signature: 2}.Event(), wait.Event(), release.Event(),
	} {
		if e.ID != 1 || Signature(e) == 0 {
			t.Errorf("%v: %+v", e.Kind, e)
		}
	}
	for kind, e := range map[EventKind]Event{EventLockLost: LockLost{1}.Event(), EventBind: Bind{1}.Event()} {
		if e != (Event{Kind: kind, ID: 1}) {
			t.Errorf("%v: %+v", kind, e)
		}
	}
}

// Events cost no memory: neither to make nor to read.
func TestEventsDoNotAllocate(t *testing.T) {
	buf := make([]byte, 0, EventSize)
	if n := testing.AllocsPerRun(100, func() {
		b := Token{ID: 1, Gate: 2, Phase: 3, Signature: 4}.Event().Append(buf)
		e, err := ParseEvent(b)
		if err != nil || ParseToken(e).Gate != 2 {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
