package amt

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// rows makes a row for each receiver.
func rows(kind Kind, c Count, to ...int) (r []Row) {
	for _, t := range to {
		r = append(r, Row{t, kind, c})
	}
	return r
}

func TestPartsAreReadAsWritten(t *testing.T) {
	parts := []Part{
		{Rank: 0, Size: 3, Job: "1f", Program: "cg",
			Rows: append(rows(Send, Count{7, 700, 100}, 1, 2), rows(Collective, Count{3, 24, 8}, 2)...)},
		{Rank: 2, Size: 3, Job: "1f", Program: "cg"},
	}
	var b bytes.Buffer
	for i := range parts {
		if err := parts[i].Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadParts(&b)
	if err != nil || !reflect.DeepEqual(got, parts) {
		t.Errorf("%v %+v", err, got)
	}
	tr, err := NewTrace(got)
	if err != nil || tr.Missing() != 1 || tr.Size != 3 || tr.Program != "cg" {
		t.Errorf("%v %+v", err, tr)
	}
}

func TestLinesThatAreNone(t *testing.T) {
	head := `{"trace":1,"rank":0,"size":4,"job":"1","program":"x","rows":1}` + "\n"
	for _, c := range []struct {
		text string
		line int
		want string
	}{
		{"what", 1, "not JSON"},
		{`{"trace":2}`, 1, `"trace":1`},
		{`{"trace":1,"rank":4,"size":4}`, 1, "rank 4 of 4"},
		{`{"trace":1,"rank":0,"size":99999999}`, 1, "from 1 to"},
		{`{"trace":1,"rank":0,"size":4,"rows":99}`, 1, "there can be 28"},
		{head, 2, "1 more"},
		{head + `{"to":4,"kind":"send"}`, 2, "to rank 4 of 4"},
		{head + `{"to":-1,"kind":"send"}`, 2, "to rank -1"},
		{head + `{"to":1,"kind":"carried"}`, 2, `kind "carried"`},
		{head + `{"to":1,"kind":"send","messages":-1}`, 2, "not JSON"},
		{head + strings.Repeat(" ", 5000), 2, "too long"},
	} {
		_, err := ReadParts(strings.NewReader(c.text))
		var e *LineError
		if !errors.As(err, &e) || e.Line != c.line || !strings.Contains(e.Why, c.want) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestPartsOfOneRun(t *testing.T) {
	if _, err := NewTrace(nil); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	for _, parts := range [][]Part{
		{{Rank: 0, Size: 2, Job: "a"}, {Rank: 1, Size: 3, Job: "a"}},
		{{Rank: 0, Size: 2, Job: "a"}, {Rank: 1, Size: 2, Job: "b"}},
		{{Rank: 1, Size: 2, Job: "a"}, {Rank: 1, Size: 2, Job: "a"}},
	} {
		var e *PartError
		if _, err := NewTrace(parts); !errors.As(err, &e) || e.Rank != 1 {
			t.Error(err)
		}
	}
}

// The partners of a rank are the other ranks that send it messages which it has not asked for,
// outside of collective operations of all.
func TestPartners(t *testing.T) {
	one := Count{1, 8, 8}
	tr, err := NewTrace([]Part{
		{Rank: 2, Size: 4, Rows: append(rows(Put, one, 0), rows(Send, one, 0, 2)...)},
		{Rank: 1, Size: 4, Rows: append(rows(Collective, one, 0), rows(Pull, one, 0)...)},
		{Rank: 3, Size: 4, Rows: append(rows(IPush, one, 0), rows(Atomic, one, 2)...)},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := tr.Receivers()
	if len(r) != 1 || r[0].Rank != 0 || r[0].Partners() != 2 {
		t.Fatalf("%+v", r)
	}
	want := []Sender{{Rank: 1, Collective: one}, {Rank: 2, Partner: Count{2, 16, 8}}, {Rank: 3, Partner: one}}
	if !reflect.DeepEqual(r[0].Senders, want) {
		t.Errorf("%+v", r[0].Senders)
	}
}

// A sum that does not fit stays at the most.
func TestCountsSaturate(t *testing.T) {
	c := Count{1<<64 - 2, 5, 3}
	c.Add(Count{9, 9, 9})
	if c != (Count{1<<64 - 1, 14, 9}) {
		t.Error(c)
	}
}

// Whatever a trace says, reading it and advising from it neither fails nor gives
// more than was asked for.
func FuzzTrace(f *testing.F) {
	f.Add([]byte(`{"trace":1,"rank":0,"size":4,"job":"1","program":"x","rows":1}`+"\n"+
		`{"to":1,"kind":"send","messages":9,"bytes":70000,"largest":9000}`), 0, 0)
	f.Add([]byte(`{"trace":1,"rank":3,"size":4,"rows":0}`), 4096, 8192)
	f.Fuzz(func(t *testing.T, text []byte, ring, budget int) {
		parts, err := ReadParts(bytes.NewReader(text))
		if err != nil {
			return
		}
		tr, err := NewTrace(parts)
		if err != nil {
			return
		}
		a, err := Advise(tr, Options{Ring: ring, Budget: budget})
		if err != nil {
			return
		}
		for i := range a.Receivers {
			if r := &a.Receivers[i]; budget > 0 && r.Bytes() > budget {
				t.Fatalf("%d bytes where the budget is %d: %+v", r.Bytes(), budget, r)
			}
		}
		again(t, a)
	})
}

// again writes a table, and reads it.
func again(t *testing.T, a *Table) {
	t.Helper()
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := ReadTable(&b)
	if err != nil {
		t.Fatalf("%v\n%+v", err, a)
	}
	if len(back.Receivers) != len(a.Receivers) || back.Ranks != a.Ranks {
		t.Fatalf("%+v was read as %+v", a, back)
	}
}
