package endpoint

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"weft"
)

// What a rank shows is what rank 0 sees, and every verdict arrives as what it was.
func TestHello(t *testing.T) {
	c := Config{Library: "x", Table: []string{"a", "bc"}, Params: []Param{{"Depth", 4}, {"Segment", 1 << 40}}}
	b, err := c.hello()
	if err != nil {
		t.Fatal(err)
	}
	values, names := parseHello(b[HeadSize:])
	if !slices.Equal(values, []int{4, 1 << 40}) || !slices.Equal(names, c.Table) {
		t.Errorf("%v %q", values, names)
	}
	if err := c.differs(3, b[HeadSize:]); err != nil {
		t.Error(err)
	}
	e := &Endpoint{cfg: c}
	for _, verdict := range []error{
		nil, &TableError{"x", 7, 3, `"a"`, ""}, &TableError{"x", 7, -1, "", "Depth 4"},
		&weft.PeerError{Rank: 5, Cause: errors.New("why"), Clean: true}, errors.New("something else"),
	} {
		have := e.verdict(e.tell(kindWelcome, verdict))
		want := fmt.Sprint(verdict)
		if want == "something else" {
			want = "x: a rank has not opened the endpoint: " + want
		}
		if fmt.Sprint(have) != want {
			t.Errorf("%v, was %v", have, verdict)
		}
	}
	for _, table := range [][]string{{""}, {string(make([]byte, 256))},
		slices.Repeat([]string{string(make([]byte, 200))}, 200)} {
		c.Table = table
		if _, err := c.hello(); err == nil {
			t.Errorf("a table of %d names, the first of %d bytes, is taken", len(table), len(table[0]))
		}
	}
}

// FuzzHello: what another rank shows or tells, whatever it is, is taken or refused.
func FuzzHello(f *testing.F) {
	c := Config{Library: "x", Table: []string{"a", "bc"}, Params: []Param{{"Depth", 4}}}
	e := &Endpoint{cfg: c}
	b, _ := c.hello()
	f.Add(b)
	f.Add(e.tell(kindWelcome, &TableError{"x", 7, 3, "a", "b"}))
	f.Add(e.tell(kindHello, &weft.PeerError{Rank: 5, Cause: errors.New("why")}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < HeadSize {
			return
		}
		_ = e.verdict(b)
		_ = c.differs(1, b[HeadSize:])
	})
}
