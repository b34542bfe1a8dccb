package engine

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"weft/internal/engine/coord"
	"weft/internal/engine/wire"
)

// frames are those that a rank may send, by the names that PROTOCOL gives them.
var frames = map[string]interface{ Append([]byte) []byte }{
	"bye": &wire.Bye{}, "data": &wire.Data{}, "ack": &wire.Ack{}, "nack": &wire.Nack{}, "go": &wire.Go{},
	"ackreq": &wire.AckReq{},
	"rts":    &wire.RTS{}, "fetch": &wire.Fetch{}, "piece": &wire.Piece{}, "fetched": &wire.Fetched{},
	"settled": &wire.Settled{},
	"attach":  &wire.Attach{}, "attached": &wire.Attached{}, "push": &wire.Push{}, "put": &wire.Put{},
	"flush": &wire.Flush{},
	"pull":  &wire.Pull{}, "pulled": &wire.Pulled{}, "atomic": &wire.Atomic{}, "result": &wire.Result{},
	"guard": &wire.Guard{},
	"ipush": &wire.IPush{}, "istop": &wire.IStop{}, "igo": &wire.IGo{}, "knock": &wire.Knock{}, "revoke": &wire.Revoke{},
	"fence": &wire.Fence{}, "fenceack": &wire.FenceAck{},
	"event": &wire.Event{},
}

// objects are what the objects of scenarios are called in events: the first eight bytes of the
// SHA-256 of "lL", "cC" and "bB".
var objects = map[string]uint64{"L": coord.LockID("L"), "C": 18232071524626653928, "B": 9916190272241978043}

// lie has a frame arrive that a rank which keeps to the protocol would not send, and
// says what its receiver counted it as. Key=right is the key of the receiver's region
// as rank "from" has attached it.
func (s *scenario) lie(from int) {
	to := s.number("to", 0)
	var what string
	s.d.ScanArgs(s.t, "frame", &what)
	f := reflect.New(reflect.TypeOf(frames[what]).Elem())
	for _, arg := range s.d.CmdArgs {
		field := f.Elem().FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, arg.Key) })
		switch {
		case !field.IsValid():
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		default:
			field.SetUint(s.value(from, to, arg.Key, arg.Vals[0]))
		}
	}
	b := f.Interface().(interface{ Append([]byte) []byte }).Append(nil)
	for range s.number("size", 0) {
		b = append(b, byte(s.number("fill", 1)))
	}
	e := s.engines[to]
	before := e.Stats()
	for range s.number("count", 1) {
		e.Recv(s.now, from, b)
	}
	s.say("  rank %d counts %s", to, told(before, e.Stats()))
}

// value reads a field of a frame: a number, or a name that stands for one.
func (s *scenario) value(from, to int, key, text string) uint64 {
	switch {
	case key == "key" && text == "right":
		return s.found[[2]int{from, to}].Key
	case key == "id":
		return objects[text]
	case key == "kind":
		for k := wire.EventKind(1); !strings.HasPrefix(k.String(), "event "); k++ {
			if k.String() == text {
				return uint64(k)
			}
		}
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		s.t.Fatalf("%s: %v", s.d.Pos, err)
	}
	return n
}

// told says which counts of frames that were of no use have grown.
func told(a, b Stats) string {
	var text []string
	for _, c := range []struct {
		name string
		n    uint64
	}{
		{"malformed", b.Dropped.Malformed - a.Dropped.Malformed}, {"foreign", b.Dropped.Foreign - a.Dropped.Foreign},
		{"dropped", b.Msg.Dropped + b.RMA.Dropped + b.Coord.Dropped - a.Msg.Dropped - a.RMA.Dropped - a.Coord.Dropped},
		{"refused", b.Msg.Refused + b.RMA.Refused + b.Coord.Refused - a.Msg.Refused - a.RMA.Refused - a.Coord.Refused},
	} {
		if c.n > 0 {
			text = append(text, fmt.Sprintf("%d %s", c.n, c.name))
		}
	}
	if len(text) == 0 {
		return "nothing"
	}
	return strings.Join(text, ", ")
}
