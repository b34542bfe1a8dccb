package advise

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"weft/internal/amt"
)

// count is so many messages and bytes.
func count(messages, bytes, largest uint64) amt.Count {
	return amt.Count{Messages: messages, Bytes: bytes, Largest: largest}
}

// rows makes a row for each receiver.
func rows(kind amt.Kind, c amt.Count, to ...int) (r []amt.Row) {
	for _, t := range to {
		r = append(r, amt.Row{To: t, Kind: kind, Count: c})
	}
	return r
}

func TestPartsAreReadAsWritten(t *testing.T) {
	parts := []amt.Part{
		{Rank: 0, Size: 3, Job: "1f", Program: "cg",
			Rows: append(rows(amt.Send, count(7, 700, 100), 1, 2), rows(amt.Collective, count(3, 24, 8), 2)...)},
		{Rank: 2, Size: 3, Job: "1f", Program: "cg", Events: []amt.Event{{What: amt.Posted, Peer: -1, Tag: 5, Mask: 1 << 63},
			{What: amt.Sent, Peer: 1, Kind: amt.Push, Size: 80}, {What: amt.Came, Peer: 2, Tag: 5}}},
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
		{"what", 1, "no head"},
		{`{"trace":2}`, 1, `"trace":1`},
		{`{"trace":1,"rank":4,"size":4}`, 1, "rank 4 of 4"},
		{`{"trace":1,"rank":0,"size":99999999}`, 1, "from 1 to"},
		{`{"trace":1,"rank":0,"size":4,"rows":99}`, 1, "there can be 28"},
		{head, 2, "1 more"},
		{head + `{"to":4,"kind":"send"}`, 2, "to rank 4 of 4"},
		{head + `{"to":-1,"kind":"send"}`, 2, "to rank -1"},
		{head + `{"to":1,"kind":"carried"}`, 2, `kind "carried"`},
		{head + `{"to":1,"kind":"send","messages":-1}`, 2, "no row"},
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
	for _, parts := range [][]amt.Part{
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
	one := count(1, 8, 8)
	tr, err := NewTrace([]amt.Part{
		{Rank: 2, Size: 4, Rows: append(rows(amt.Put, one, 0), rows(amt.Send, one, 0, 2)...)},
		{Rank: 1, Size: 4, Rows: append(rows(amt.Collective, one, 0), rows(amt.Pull, one, 0)...)},
		{Rank: 3, Size: 4, Rows: append(rows(amt.IPush, one, 0), rows(amt.Atomic, one, 2)...)},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := tr.Receivers()
	if len(r) != 1 || r[0].Rank != 0 || r[0].Partners() != 2 {
		t.Fatalf("%+v", r)
	}
	want := []Sender{{Rank: 1, Collective: one}, {Rank: 2, Partner: count(2, 16, 8)}, {Rank: 3, Partner: one}}
	if !reflect.DeepEqual(r[0].Senders, want) {
		t.Errorf("%+v", r[0].Senders)
	}
}

// A sum that does not fit stays at the most.
func TestCountsSaturate(t *testing.T) {
	c := count(1<<64-2, 5, 3)
	add(&c, count(9, 9, 9))
	if c != (count(1<<64-1, 14, 9)) {
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
			if r := &a.Receivers[i]; budget > 0 && Bytes(r) > budget {
				t.Fatalf("%d bytes where the budget is %d: %+v", Bytes(r), budget, r)
			}
		}
		again(t, a)
	})
}

// again writes a table, and reads it.
func again(t *testing.T, a *amt.Table) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteTable(&b, a); err != nil {
		t.Fatal(err)
	}
	back, err := amt.ReadTable(&b)
	if err != nil {
		t.Fatalf("%v\n%+v", err, a)
	}
	if len(back.Receivers) != len(a.Receivers) || back.Ranks != a.Ranks {
		t.Fatalf("%+v was read as %+v", a, back)
	}
}
