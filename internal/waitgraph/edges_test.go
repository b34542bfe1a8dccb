package waitgraph

import (
	"slices"
	"testing"
)

// TestEdges: each rank that waits for certain others has an edge to them, red in a deadlock.
func TestEdges(t *testing.T) {
	g := New([]Report{
		{Waits: []Wait{lock("b", 2)}, Objects: []Object{holds("a", 1)}},
		{Waits: []Wait{lock("a", 1)}, Objects: []Object{holds("b", 2)}},
		{Waits: []Wait{receive(3)}},
		{},
		{Waits: []Wait{receive(AnyRank)}},
	})
	want := []Edge{
		{0, 1, `lock "b"`, 1, true}, {1, 0, `lock "a"`, 1, true}, {2, 3, "a message from 3", 1, false},
	}
	if got := g.Edges(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestStandings: of a barrier the members are named that are missing, of a lock the rank that holds it.
func TestStandings(t *testing.T) {
	g := New([]Report{
		{Objects: []Object{at(2), holds("L", 1)}}, {Objects: []Object{at(1)}},
		{Objects: []Object{at(2), {What: "lock", ID: 1, Home: true, Queue: []int{1}}}},
	})
	got := g.ObjectStates()
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	if b := got[0]; b.What != "barrier" || b.Phase != 2 || b.Arrived != 2 || b.Members != 3 ||
		!slices.Equal(b.Missing, []int{1}) {
		t.Errorf("%+v", b)
	}
	if l := got[1]; l.Name != "L" || !slices.Equal(l.Holders, []int{0}) || !slices.Equal(l.Queue, []int{1}) {
		t.Errorf("%+v", l)
	}
}
