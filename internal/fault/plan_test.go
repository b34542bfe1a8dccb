package fault

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// A clock is a stage with a virtual time, which notes what happens to its ranks.
type clock struct {
	ranks   int
	now     time.Duration
	due     []event
	cuts    map[[2]int]bool
	crashed map[int]bool
	notes   []string
	noted   []string // faults by rank
}

type event struct {
	at time.Duration
	do func()
}

func newClock(ranks int) *clock {
	return &clock{ranks: ranks, cuts: map[[2]int]bool{}, crashed: map[int]bool{}}
}

func (c *clock) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf("%v ", c.now)+fmt.Sprintf(format, args...))
}

func (c *clock) Size() int                       { return c.ranks }
func (c *clock) Liveness() time.Duration         { return time.Second }
func (c *clock) After(d time.Duration, f func()) { c.due = append(c.due, event{c.now + d, f}) }
func (c *clock) Crash(rank int)                  { c.crashed[rank] = true; c.note("crash %d", rank) }
func (c *clock) Pause(rank int, d time.Duration) { c.note("pause %d for %v", rank, d) }
func (c *clock) Slow(rank int, d time.Duration)  { c.note("slow %d by %v", rank, d) }
func (c *clock) Cut(from, to int)                { c.cuts[[2]int{from, to}] = true }
func (c *clock) Heal(from, to int)               { delete(c.cuts, [2]int{from, to}) }
func (c *clock) IsCut(from, to int) bool         { return c.cuts[[2]int{from, to}] || c.crashed[from] }
func (c *clock) Lose(rank, from int)             { c.note("%d loses %d", rank, from) }
func (c *clock) Note(rank int, f Fault)          { c.noted = append(c.noted, fmt.Sprint(f.Kind, " ", rank)) }

// run lets the time pass until nothing more is due.
func (c *clock) run() {
	for len(c.due) > 0 {
		first := slices.MinFunc(c.due, func(a, b event) int { return int(a.at - b.at) })
		i := slices.IndexFunc(c.due, func(e event) bool { return e.at == first.at })
		do := c.due[i].do
		c.due = slices.Delete(c.due, i, i+1)
		c.now = first.at
		do()
	}
}

// Faults happen at their times, faults with an end are healed then, and after the liveness time the ranks
// of the two sides of a cut lose each other.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault Fault
		want  []string
	}{
		{"crash", Fault{Kind: Crash, Ranks: []int{1}, At: 3 * time.Second},
			[]string{"3s crash 1", "4s 0 loses 1", "4s 2 loses 1"}},
		{"pause", Fault{Kind: Pause, Ranks: []int{2}, For: time.Minute}, []string{"0s pause 2 for 1m0s"}},
		{"slow", Fault{Kind: Slow, Ranks: []int{0}, Delay: time.Millisecond, For: time.Second},
			[]string{"0s slow 0 by 1ms", "1s slow 0 by 0s"}},
		{"partition", Fault{Kind: Partition, Ranks: []int{0}},
			[]string{"1s 1 loses 0", "1s 2 loses 0", "1s 0 loses 1", "1s 0 loses 2"}},
		{"short partition", Fault{Kind: Partition, Ranks: []int{0}, For: time.Second / 2},
			[]string{"500ms slow 0 by 0s"}},
	} {
		stage := newClock(3)
		Start([]Fault{c.fault}, stage)
		stage.run()
		if !slices.Equal(stage.notes, c.want) {
			t.Errorf("%s: %q, want %q", c.name, stage.notes, c.want)
		}
		if want := fmt.Sprint(c.fault.Kind, " ", c.fault.Ranks[0]); len(stage.noted) == 0 || stage.noted[0] != want {
			t.Errorf("%s: noted are %q, want %q", c.name, stage.noted, want)
		}
	}
}

// A fault that waits for the third operation of a rank happens with it, once.
func TestPlanWaitsForAnOperation(t *testing.T) {
	stage := newClock(2)
	p := Start([]Fault{{Kind: Pause, Ranks: []int{0}, For: time.Second, After: Operations{Rank: 1, Count: 3}}}, stage)
	for i := 1; i <= 5; i++ {
		if p.Begin(0) {
			t.Errorf("it happens with operation %d of another rank", i)
		}
		if now := p.Begin(1); now != (i == 3) {
			t.Errorf("operation %d: happens is %v", i, now)
		}
	}
	if want := []string{"0s pause 0 for 1s"}; !slices.Equal(stage.notes, want) {
		t.Errorf("%q, want %q", stage.notes, want)
	}
}

// A List reads what a command line says of faults, and refuses what it does not understand.
func TestList(t *testing.T) {
	for text, want := range map[string]Fault{
		"crash 1": {Kind: Crash, Ranks: []int{1}},
		"pause 1,2 at 3ms for 1ms": {
			Kind: Pause, Ranks: []int{1, 2}, At: 3 * time.Millisecond, For: time.Millisecond,
		},
		"slow 0 by 50us after 3:100": {
			Kind: Slow, Ranks: []int{0}, Delay: 50 * time.Microsecond, After: Operations{3, 100},
		},
		"partition 0,1 for 1s after 0:1 at 0": {
			Kind: Partition, Ranks: []int{0, 1}, For: time.Second, After: Operations{0, 1},
		},
		"heal at 2s": {Kind: Heal, At: 2 * time.Second},
	} {
		var l List
		if err := l.Set(text); err != nil || !reflect.DeepEqual(l, List{want}) {
			t.Errorf("%q: %+v, %v", text, l, err)
		}
	}
	for text, why := range map[string]string{
		"": "missing", "explode 1": "explode", "crash x": "missing", "crash": "Ranks is empty", "crash 1,x": `"x"`,
		"crash 1 at": "missing", "crash 1 at noon": "noon", "crash 1 after 3": "operations", "slow 1": "Delay",
		"crash 9": "rank 9",
	} {
		var l List
		err := l.Set(text)
		if err == nil {
			err = Check(l, 4)
		}
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
