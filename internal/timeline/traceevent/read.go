package traceevent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// A Trace is what a file shows.
type Trace struct {
	Processes map[int]string // their names
	Threads   map[int]string // their names: no two processes have one of the same number
	Slices    []*Slice       // in the order of the file
	Arrows    []Arrow        // in the order in which the file first has an end of theirs
}

// A Slice is what a track shows: an operation, or a moment, whose end is its beginning.
type Slice struct {
	Process, Thread int
	Category, Name  string
	Begin, End      int64 // in nanoseconds
	Arguments       Arguments
}

// Arguments are what a slice tells, as far as a page shows it.
type Arguments struct {
	Rank                           int // or -1
	Bytes, Packets, Again, Dropped uint64
}

// An Arrow leads from a moment of one slice to a moment of another.
type Arrow struct {
	From, To      *Slice
	Sent, Arrived int64
}

// Read reads what Write has written. It returns an error where the viewer would show something
// else than was meant: an event on a track without a name, an end without a beginning or the other
// way round, an arrow that begins or ends nowhere.
func Read(from io.Reader) (*Trace, error) {
	r := reader{
		Trace: Trace{Processes: map[int]string{}, Threads: map[int]string{}},
		open:  map[int][]*Slice{}, messages: map[string]*message{},
	}
	in := json.NewDecoder(from)
	if err := r.seek(in); err != nil {
		return nil, err
	}
	for in.More() {
		args := arguments{Arguments: Arguments{Rank: -1}}
		e := event{Args: &args}
		if err := in.Decode(&e); err != nil {
			return nil, err
		}
		if err := r.event(&e, &args); err != nil {
			return nil, err
		}
	}
	for range 2 { // of the list, and of the object
		if _, err := in.Token(); err != nil {
			return nil, err
		}
	}
	for thread, open := range r.open {
		if len(open) > 0 {
			return nil, fmt.Errorf("%q on track %d does not end", open[0].Name, thread)
		}
	}
	r.join()
	return &r.Trace, nil
}

// arguments are what the arguments of an event tell, as far as they are read.
type arguments struct {
	Arguments
	Name string // of a process or a track
}

// A tip is an end of an arrow.
type tip struct {
	slice *Slice
	at    int64
}

// A message is the ends of arrows with the same number: a port that was closed and opened again
// counts from the beginning.
type message struct{ sent, arrived []tip }

// A reader is what has been read of a file.
type reader struct {
	Trace
	open     map[int][]*Slice // by thread: the last one ends first
	messages map[string]*message
	order    []*message // in which the file first has them
}

// seek reads up to the first event.
func (r *reader) seek(in *json.Decoder) error {
	for {
		t, err := in.Token()
		if err != nil {
			return err
		}
		if t == "traceEvents" {
			break
		}
	}
	if t, err := in.Token(); err != nil || t != json.Delim('[') {
		return errors.Join(err, errors.New("there is no list of events"))
	}
	return nil
}

// event takes the next event.
func (r *reader) event(e *event, args *arguments) error {
	at := int64(math.Round(e.Time * 1000))
	open := r.open[e.Thread]
	switch e.Phase {
	case metadata:
		switch e.Name {
		case "process_name":
			r.Processes[e.Process] = args.Name
		case "thread_name":
			r.Threads[e.Thread] = args.Name
		}
		return nil
	case begin, moment:
		if r.Processes[e.Process] == "" || r.Threads[e.Thread] == "" && e.Scope != "p" {
			return fmt.Errorf("%q is on a track without a name: %d of process %d", e.Name, e.Thread, e.Process)
		}
		s := &Slice{e.Process, e.Thread, e.Category, e.Name, at, at, args.Arguments}
		r.Slices = append(r.Slices, s)
		if e.Phase == begin {
			r.open[e.Thread] = append(open, s)
		}
		return nil
	}
	if len(open) == 0 {
		return fmt.Errorf("at %d ns, event %q belongs to nothing on track %d", at, e.Phase, e.Thread)
	}
	last := open[len(open)-1]
	switch e.Phase {
	case end:
		last.End = at
		r.open[e.Thread] = open[:len(open)-1]
	case messageStart:
		m := r.message(e.ID)
		m.sent = append(m.sent, tip{last, at})
	case messageEnd:
		m := r.message(e.ID)
		m.arrived = append(m.arrived, tip{last, at})
	default:
		return fmt.Errorf("at %d ns, event %q is not known", at, e.Phase)
	}
	return nil
}

// message returns what is known of a message.
func (r *reader) message(id string) *message {
	m := r.messages[id]
	if m == nil {
		m = &message{}
		r.messages[id] = m
		r.order = append(r.order, m)
	}
	return m
}

// join makes arrows of their ends. Where the other rank has handed nothing over, an end has no partner.
func (r *reader) join() {
	for _, m := range r.order {
		for i := range min(len(m.sent), len(m.arrived)) {
			from := m.sent[i]
			to := m.arrived[i]
			r.Arrows = append(r.Arrows, Arrow{from.slice, to.slice, from.at, to.at})
		}
	}
}
