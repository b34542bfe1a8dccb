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
	request := LockRequest{Kind: EventLockTry, Lock: 1, Serial: 2, Signature: 3}
	same(t, request, request.Event(), ParseLockRequest)
	token := LockToken{Kind: EventLockReturn, Lock: 1, Repair: 2, Serial: 3, Epoch: 4, HolderDied: true,
		State: TokenForTry, Rank: 5, RankSerial: 6}
	same(t, token, token.Event(), ParseLockToken)
	rival := LockRival{Kind: EventLockForward, Lock: 1, Repair: 2, Serial: 3, Rank: 4, RankSerial: 5}
	same(t, rival, rival.Event(), ParseLockRival)
	permits := PermitEvent{Kind: EventPermitGrant, ID: 1, Serial: 2, Permits: 3, Signature: 4, Epoch: 5, HolderDied: true}
	same(t, permits, permits.Event(), ParsePermitEvent)
	cond := CondEvent{Kind: EventCondSet, ID: 1, Serial: 2, Signature: 3, All: true, Bit: true, Woken: 4}
	same(t, cond, cond.Event(), ParseCondEvent)
	guard := GuardEvent{Kind: EventBound, Lock: 1, Epoch: 2}
	same(t, guard, guard.Event(), ParseGuardEvent)
	gate := Token{Kind: EventToken, ID: 1, Gate: 2, Phase: 3, Signature: 4, Time: 5}
	same(t, gate, gate.Event(), ParseToken)
	left := Left{ID: 1, Rank: 2, Phase: 3, Gone: true}
	same(t, left, left.Event(), ParseLeft)
	clock := Clock{Kind: EventPong, ID: 1, Sent: 2, Time: 3}
	same(t, clock, clock.Event(), ParseClock)
	region := RegionEvent{Kind: EventRegionSync, ID: 1, Rank: 2, Phase: 3, Signature: 4}
	same(t, region, region.Event(), ParseRegionEvent)
	refuse := Refuse{ID: 1, Signature: 2, Rank: 3, Other: true}
	same(t, refuse, refuse.Event(), ParseRefuse)

	// What the home of an object checks before it knows what the request is.
	for _, e := range []Event{
		request.Event(), permits.Event(), cond.Event(), region.Event(), gate.Event(),
	} {
		if e.ID != 1 || Signature(e) != 3 && Signature(e) != 4 {
			t.Errorf("%v: %+v", e.Kind, e)
		}
	}
}

// Events cost no memory: neither to make nor to read.
func TestEventsDoNotAllocate(t *testing.T) {
	buf := make([]byte, 0, EventSize)
	if n := testing.AllocsPerRun(100, func() {
		b := Token{Kind: EventToken, ID: 1, Gate: 2, Phase: 3, Signature: 4}.Event().Append(buf)
		e, err := ParseEvent(b)
		if err != nil || ParseToken(e).Gate != 2 {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
