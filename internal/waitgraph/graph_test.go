package waitgraph

import (
	"encoding/json"
	"strings"
	"testing"
)

func lock(name string, id uint64) Wait {
	return Wait{For: "lock", Name: name, ID: id, Rank: AnyRank, Seconds: 1}
}
func holds(name string, id uint64) Object {
	return Object{What: "lock", Name: name, ID: id, Holds: true}
}
func receive(from int) Wait { return Wait{For: "receive", Rank: from, Seconds: 1} }

func barrier(phase uint64) Wait {
	return Wait{For: "barrier", Name: "B", ID: 9, Phase: phase, Rank: AnyRank, Seconds: 1}
}
func at(phase uint64) Object {
	return Object{What: "barrier", Name: "B", ID: 9, Arrived: phase, Done: phase - 1}
}

// TestDeadlocks: what is a deadlock is named, and what may still end is not.
func TestDeadlocks(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks []Report
		want  string // in the only deadlock; "" if there is none
	}{
		{"two locks", []Report{
			{Waits: []Wait{lock("b", 2)}, Objects: []Object{holds("a", 1)}},
			{Waits: []Wait{lock("a", 1)}, Objects: []Object{holds("b", 2)}},
		}, `rank 0 waits for lock "b" held by 1, which waits for lock "a" held by 0, which is rank 0 again`},
		{"one works", []Report{
			{Waits: []Wait{lock("b", 2)}}, {Objects: []Object{holds("b", 2)}},
		}, ""},
		{"barrier against lock", []Report{
			{Waits: []Wait{lock("L", 1)}}, {Waits: []Wait{barrier(1)}, Objects: []Object{holds("L", 1), at(1)}},
		}, `rank 0 waits for lock "L" held by 1, which waits for barrier "B", phase 1, for 0, which is rank 0 again`},
		{"a member has left", []Report{
			{Waits: []Wait{barrier(2)}, Objects: []Object{at(2)}}, {Rank: 1, Ended: "exit status 0"},
		}, "for 1, which has ended"},
		{"a receiver has left", []Report{
			{Waits: []Wait{{For: "send", Rank: 1, Seconds: 1}}}, {Rank: 1, Ended: "exit status 0"},
		}, "room at 1, or its acknowledgement, which has ended"},
		{"a barrier whose members all wait", []Report{
			{Waits: []Wait{barrier(1)}, Objects: []Object{at(1)}}, {Waits: []Wait{barrier(1)}, Objects: []Object{at(1)}},
		}, `barrier "B", phase 1, and no rank is left`},
		{"nobody answers", []Report{
			{Waits: []Wait{receive(AnyRank)}}, {Waits: []Wait{receive(0)}},
		}, "a message from anyone, and no rank is left"},
		{"receives in a ring", []Report{
			{Waits: []Wait{receive(1)}}, {Waits: []Wait{receive(2)}}, {Waits: []Wait{receive(0)}},
		}, "rank 0 waits for a message from 1, which waits for a message from 2, which waits for a message from 0, which " +
			"is rank 0 again"},
		{"one goroutine can go on", []Report{
			{Waits: []Wait{receive(1), receive(2)}}, {Waits: []Wait{receive(0)}}, {},
		}, ""},
		{"all have arrived", []Report{
			{Waits: []Wait{barrier(1)}, Objects: []Object{at(1)}}, {Objects: []Object{at(1)}},
		}, ""},
		{"just begun", []Report{
			{Waits: []Wait{{For: "receive", Rank: 1, Seconds: 0.01}}}, {Waits: []Wait{receive(0)}},
		}, ""},
	} {
		for i := range c.ranks {
			c.ranks[i].Rank = i
		}
		g := New(c.ranks)
		if text := strings.Join(g.Deadlocks, "\n"); strings.Contains(text, ",,") {
			t.Errorf("%s: %q", c.name, text)
		}
		switch {
		case c.want == "" && len(g.Deadlocks) > 0:
			t.Errorf("%s: %v", c.name, g.Deadlocks)
		case c.want != "" && (len(g.Deadlocks) == 0 || !strings.Contains(strings.Join(g.Deadlocks, "\n"), c.want)):
			t.Errorf("%s: %q, want %q", c.name, g.Deadlocks, c.want)
		}
		var s strings.Builder
		if err := g.WriteText(&s); err != nil || strings.Count(s.String(), "\n") < 1+len(c.ranks) {
			t.Errorf("%s:\n%s", c.name, &s)
		}
	}
}

// FuzzReports: whatever ranks say of themselves, there is a graph, which can be printed.
func FuzzReports(f *testing.F) {
	f.Add([]byte(`[{"Rank":-7,"Host":"\u001b","Waits":[{"For":"receive","Rank":-9,"Seconds":9}]},{"Ended":"x"}]`))
	f.Add([]byte(`[{"Waits":[{"For":"barrier","ID":1,"Seconds":9}],"Objects":[{"What":"barrier","ID":1,"Members":[-4,5,70000]}]},{}]`))
	f.Add([]byte(`[{"Waits":[{"For":"lock","ID":1,"Rank":3,"Seconds":9}]},{"Objects":[{"What":"lock","ID":1,"Holds":true,"Queue":[-1]}]}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var ranks []Report
		if len(b) > 1<<12 || json.Unmarshal(b, &ranks) != nil {
			return
		}
		var s strings.Builder
		if err := New(ranks).WriteText(&s); err != nil || strings.ContainsAny(s.String(), "\x1b\x07\u009b") {
			t.Errorf("%q %v", &s, err)
		}
	})
}

// TestReturned: a rank whose program has returned is not said to compute.
func TestReturned(t *testing.T) {
	var text strings.Builder
	g := New([]Report{{}, {Done: true}})
	if err := g.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	if !strings.Contains(lines[1], "it computes") || !strings.Contains(lines[2], "its program has returned") ||
		g.Doing(0) != "" || g.Doing(1) != "has returned" {
		t.Errorf("%q", lines)
	}
}
