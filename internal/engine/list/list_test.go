package list

import (
	"fmt"
	"slices"
	"testing"
)

type item struct {
	n    int
	link Link[item]
}

// text says what is in a list, from both ends.
func text(l *List[item]) string {
	var s []int
	for it := l.First(); it != nil; it = it.link.Next() {
		s = append(s, it.n)
	}
	var back []int
	for k := l.last; k != nil; k = k.prev {
		back = append(back, k.value.n)
	}
	if slices.Reverse(back); !slices.Equal(s, back) {
		return fmt.Sprint(s, " and backwards ", back)
	}
	if l.Empty() != (len(s) == 0) || l.Len() != len(s) || len(s) > 0 && l.last.value.n != s[len(s)-1] {
		return fmt.Sprint(s, " but it does not say so")
	}
	return fmt.Sprint(s)
}

func fill(n int) (*List[item], []*item) {
	l := &List[item]{}
	var items []*item
	for i := range n {
		it := &item{n: i}
		items = append(items, it)
		l.Push(&it.link, it)
	}
	return l, items
}

// Values come out in the order in which they went in, but for those that were put in front.
func TestOrder(t *testing.T) {
	l, _ := fill(3)
	front := &item{n: 9}
	l.PushFront(&front.link, front)
	if got := text(l); got != "[9 0 1 2]" {
		t.Error(got)
	}
	for _, want := range []int{9, 0, 1, 2} {
		if got := l.Pop(); got == nil || got.n != want {
			t.Errorf("%v, want %d", got, want)
		}
	}
	if l.Pop() != nil || l.First() != nil || text(l) != "[]" {
		t.Error("an empty list gives something")
	}
	l.PushFront(&front.link, front)
	if got := text(l); got != "[9]" {
		t.Error(got)
	}
}

// A value can be put behind any other, and knows that it is in a list.
func TestInsertAfter(t *testing.T) {
	for i, want := range []string{"[0 9 1 2]", "[0 1 9 2]", "[0 1 2 9]"} {
		l, items := fill(3)
		it := &item{n: 9}
		l.InsertAfter(&items[i].link, &it.link, it)
		if got := text(l); got != want || !it.link.Listed() {
			t.Errorf("behind %d: %s, want %s", i, got, want)
		}
		if other := new(List[item]); other.Remove(&it.link) || !l.Remove(&it.link) || it.link.Listed() {
			t.Errorf("%v: it is removed from another list, or not from its own", l)
		}
		if got := text(l); got != "[0 1 2]" {
			t.Error(got)
		}
	}
}

// A value can be removed wherever it is, once.
func TestRemove(t *testing.T) {
	for i, want := range []string{"[1 2]", "[0 2]", "[0 1]"} {
		l, items := fill(3)
		if !l.Remove(&items[i].link) || l.Remove(&items[i].link) {
			t.Errorf("%d is not removed, or twice", i)
		}
		if got := text(l); got != want {
			t.Errorf("without %d: %s, want %s", i, got, want)
		}
		l.Push(&items[i].link, items[i])
		if got := text(l); got != want[:len(want)-1]+fmt.Sprintf(" %d]", i) {
			t.Errorf("%d again: %s", i, got)
		}
	}
}

// Take removes what matches. What is pushed meanwhile stays on the list, behind the others.
func TestTake(t *testing.T) {
	l, items := fill(6)
	taken := 0
	l.Take(func(it *item) bool { return it.n%2 == 1 }, func(it *item) {
		taken++
		if it.n == 3 {
			l.Push(&items[3].link, items[3])
		}
	})
	if got := text(l); got != "[0 2 4 3]" || taken != 3 {
		t.Errorf("%s, %d taken", got, taken)
	}
}

// Lists cost no memory.
func TestNoAllocation(t *testing.T) {
	l, items := fill(1)
	if n := testing.AllocsPerRun(100, func() {
		l.Pop()
		l.Push(&items[0].link, items[0])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
