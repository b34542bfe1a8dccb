// Package reader reads the files that package perfetto writes. It knows the fields by the
// numbers of perfetto's protocol and shares nothing with the writer, so that each checks the
// other.
package reader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Trace is a file.
type Trace struct {
	Tracks []Track
	Events []Event // in the order of time, and of the file where that is the same
}

// A Track is where events are drawn.
type Track struct {
	ID, Parent uint64
	Name       string // of its process, if it stands for one
	PID        int
}

// An Event is a TrackEvent. Name and Category are those of its beginning.
type Event struct {
	At             uint64
	Type           string // "begin", "end" or "instant"
	Track          uint64
	Category, Name string
	Flows          []uint64
	Notes          []string // "name=value"
}

// Number returns an annotation of the event that is a number.
func (e *Event) Number(name string) (n int, ok bool) {
	for _, note := range e.Notes {
		if text, found := strings.CutPrefix(note, name+"="); found {
			n, err := strconv.Atoi(text)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

// fields calls f with each field of a message.
func fields(b []byte, f func(n protowire.Number, v uint64, bytes []byte) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var v uint64
		var data []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			data, n = protowire.ConsumeBytes(b)
		default:
			return fmt.Errorf("field %d has type %d", num, typ)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if err := f(num, v, data); err != nil {
			return err
		}
	}
	return nil
}

// A state is what a sequence of packets has said so far.
type state struct {
	valid                    bool
	categories, names, notes map[uint64]string
}

// Decode reads a file.
func Decode(b []byte) (*Trace, error) {
	t := &Trace{}
	states := map[uint64]*state{}
	err := fields(b, func(n protowire.Number, _ uint64, packet []byte) error {
		if n != 1 {
			return fmt.Errorf("field %d in Trace", n)
		}
		return t.packet(packet, states)
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(t.Events, func(a, b Event) int { return int(int64(a.At) - int64(b.At)) })
	return t, nil
}

func (t *Trace) packet(b []byte, states map[uint64]*state) error {
	var at, sequence, flags uint64
	var event, interned, descriptor []byte
	err := fields(b, func(n protowire.Number, v uint64, data []byte) error {
		switch n {
		case 8: // timestamp
			at = v
		case 10: // trusted_packet_sequence_id
			sequence = v
		case 13: // sequence_flags
			flags = v
		case 11: // track_event
			event = data
		case 12: // interned_data
			interned = data
		case 60: // track_descriptor
			descriptor = data
		default:
			return fmt.Errorf("field %d in TracePacket", n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if descriptor != nil {
		return t.track(descriptor)
	}
	s := states[sequence]
	if s == nil {
		s = &state{}
		states[sequence] = s
	}
	if flags&1 != 0 { // SEQ_INCREMENTAL_STATE_CLEARED
		*s = state{true, map[uint64]string{}, map[uint64]string{}, map[uint64]string{}}
	}
	if flags&2 != 0 && !s.valid || sequence == 0 { // SEQ_NEEDS_INCREMENTAL_STATE
		return fmt.Errorf("a packet of sequence %d needs state that has not been written", sequence)
	}
	if err := s.intern(interned); err != nil {
		return err
	}
	return t.event(at, event, s)
}

// intern reads InternedData.
func (s *state) intern(b []byte) error {
	return fields(b, func(n protowire.Number, _ uint64, entry []byte) error {
		list := map[protowire.Number]map[uint64]string{1: s.categories, 2: s.names, 3: s.notes}[n]
		if list == nil {
			return fmt.Errorf("field %d in InternedData", n)
		}
		var id uint64
		var name string
		err := fields(entry, func(n protowire.Number, v uint64, data []byte) error {
			switch n {
			case 1:
				id = v
			case 2:
				name = string(data)
			}
			return nil
		})
		if id == 0 || list[id] != "" {
			return fmt.Errorf("entry %d of InternedData: 0, or a second time", id)
		}
		list[id] = name
		return err
	})
}

// track reads a TrackDescriptor.
func (t *Trace) track(b []byte) error {
	var k Track
	err := fields(b, func(n protowire.Number, v uint64, data []byte) error {
		switch n {
		case 1:
			k.ID = v
		case 2:
			k.Name = string(data)
		case 5:
			k.Parent = v
		case 3: // process
			return fields(data, func(n protowire.Number, v uint64, data []byte) error {
				switch n {
				case 1:
					k.PID = int(v)
				case 6:
					k.Name = string(data)
				}
				return nil
			})
		default:
			return fmt.Errorf("field %d in TrackDescriptor", n)
		}
		return nil
	})
	t.Tracks = append(t.Tracks, k)
	return err
}

// event reads a TrackEvent.
func (t *Trace) event(at uint64, b []byte, s *state) error {
	e := Event{At: at}
	err := fields(b, func(n protowire.Number, v uint64, data []byte) error {
		switch n {
		case 3:
			e.Category = s.categories[v]
		case 9:
			e.Type = map[uint64]string{1: "begin", 2: "end", 3: "instant"}[v]
		case 10:
			if e.Name = s.names[v]; e.Name == "" {
				return fmt.Errorf("name %d is not interned", v)
			}
		case 11:
			e.Track = v
		case 47:
			e.Flows = append(e.Flows, v)
		case 4:
			note, err := s.note(data)
			e.Notes = append(e.Notes, note)
			return err
		default:
			return fmt.Errorf("field %d in TrackEvent", n)
		}
		return nil
	})
	t.Events = append(t.Events, e)
	return err
}

// note reads a DebugAnnotation.
func (s *state) note(b []byte) (note string, err error) {
	var name, value string
	err = fields(b, func(n protowire.Number, v uint64, data []byte) error {
		switch n {
		case 1:
			name = s.notes[v]
		case 3:
			value = fmt.Sprint(v)
		case 4:
			value = fmt.Sprint(int64(v))
		case 6:
			value = string(data)
		default:
			return fmt.Errorf("field %d in DebugAnnotation", n)
		}
		return nil
	})
	return name + "=" + value, err
}

// Check returns what is wrong with a file that a viewer would show wrongly: tracks that are
// not described, events that end without having begun, or never, and flows that have no two ends.
func (t *Trace) Check() error {
	known := map[uint64]bool{}
	open := map[uint64][]string{}
	flows := map[uint64]int{}
	for _, k := range t.Tracks {
		if known[k.ID] || k.Parent != 0 && !known[k.Parent] {
			return fmt.Errorf("track %d is described twice, or before its parent", k.ID)
		}
		known[k.ID] = true
	}
	for _, e := range t.Events {
		if !known[e.Track] {
			return fmt.Errorf("%q is on track %d, which is not described", e.Name, e.Track)
		}
		for _, f := range e.Flows {
			flows[f]++
		}
		switch n := len(open[e.Track]); e.Type {
		case "begin":
			open[e.Track] = append(open[e.Track], e.Name)
		case "end":
			if n == 0 {
				return fmt.Errorf("at %d something ends on track %d that has not begun", e.At, e.Track)
			}
			open[e.Track] = open[e.Track][:n-1]
		case "instant":
		default:
			return fmt.Errorf("an event at %d has no type", e.At)
		}
	}
	for track, names := range open {
		if len(names) > 0 {
			return fmt.Errorf("on track %d %v do not end", track, names)
		}
	}
	for f, n := range flows {
		if n > 2 {
			return fmt.Errorf("flow %#x has %d ends", f, n)
		}
	}
	return nil
}

// Flows returns the beginning and the end of each flow that has both.
func (t *Trace) Flows() (pairs [][2]Event) {
	first := map[uint64]Event{}
	for _, e := range t.Events {
		for _, f := range e.Flows {
			if from, ok := first[f]; ok {
				pairs = append(pairs, [2]Event{from, e})
			} else {
				first[f] = e
			}
		}
	}
	return pairs
}

// String writes the file as text: tracks, and events with what they are called in the order of
// time. Flows are numbered as they come.
func (t *Trace) String() string {
	var s strings.Builder
	names := map[uint64]string{}
	for _, k := range t.Tracks {
		names[k.ID] = k.Name
		if k.Parent != 0 {
			names[k.ID] = names[k.Parent] + "/" + k.Name
		}
		fmt.Fprintf(&s, "track %s\n", names[k.ID])
	}
	flows := map[uint64]int{}
	for _, e := range t.Events {
		fmt.Fprintf(&s, "%d %s %s", e.At, names[e.Track], e.Type)
		if e.Name != "" {
			fmt.Fprintf(&s, " %q (%s)", e.Name, e.Category)
		}
		for _, note := range e.Notes {
			s.WriteString(" " + note)
		}
		for _, f := range e.Flows {
			if flows[f] == 0 {
				flows[f] = len(flows) + 1
			}
			fmt.Fprintf(&s, " flow %d", flows[f])
		}
		s.WriteString("\n")
	}
	return s.String()
}
