package timeline

import (
	"cmp"
	"maps"
	"slices"
)

// A fact says that a moment of one clock came before a moment of another.
type fact struct{ earlier, later int64 }

// A pair is two clocks, by number.
type pair struct{ earlier, later int }

// facts returns what the parts say about pairs of clocks.
func facts(parts []*Part, ids []string) map[pair][]fact {
	found := map[pair][]fact{}
	note := func(a, b int, f fact) {
		if a != b {
			found[pair{a, b}] = append(found[pair{a, b}], f)
		}
	}
	type moment struct {
		clock int
		at    int64
	}
	sent := map[uint64]moment{}
	each(parts, ids, func(clock int, e *Event) {
		if e.Kind.Sends() && e.ID != 0 {
			sent[e.ID] = moment{clock, e.Begin}
		}
	})
	type phase struct{ id, number uint64 }
	type visit struct {
		clock          int
		arrived, ended int64
	}
	visits := map[phase][]visit{}
	each(parts, ids, func(clock int, e *Event) {
		switch {
		case e.Flags&Failed != 0:
		case e.Kind.Receives():
			if s, ok := sent[e.ID]; ok {
				note(s.clock, clock, fact{s.at, e.End})
			}
		case e.Kind == Pass && e.Size != 0:
			at := phase{e.ID, e.Size}
			visits[at] = append(visits[at], visit{clock, e.Begin, e.End})
		}
	})
	for _, at := range slices.SortedFunc(maps.Keys(visits), func(a, b phase) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.number, b.number))
	}) {
		met := visits[at]
		const most = 64 // of a barrier of very many ranks these say enough
		for _, a := range met[:min(len(met), most)] {
			for _, b := range met[:min(len(met), most)] {
				note(a.clock, b.clock, fact{a.arrived, b.ended})
			}
		}
	}
	return found
}

// each calls f for the events of all parts, with the number of their clock.
func each(parts []*Part, ids []string, f func(clock int, e *Event)) {
	for _, p := range parts {
		clock := slices.Index(ids, p.Clock)
		for i := range p.Events {
			f(clock, &p.Events[i])
		}
	}
}
