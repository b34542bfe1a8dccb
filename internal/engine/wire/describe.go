package wire

import (
	"fmt"
	"reflect"
	"strings"
)

// DescribePacket says in a few words what a packet of a lossy link is.
func DescribePacket(b []byte) string {
	var f Link
	frame, err := f.Parse(b)
	if err != nil {
		return fmt.Sprintf("%d bytes that are no packet", len(b))
	}
	switch {
	case f.Kind == KindProbe && len(frame) > 0:
		return fmt.Sprintf("%v ack=%d, %d bytes long", f.Kind, f.Ack, len(b))
	case f.Kind == KindAck && f.Seq != 0:
		return fmt.Sprintf("%v ack=%d, of a probe of %d bytes", f.Kind, f.Ack, f.Seq)
	case f.Kind == KindPart:
		p, rest, _ := ParsePart(frame)
		return fmt.Sprintf("seq=%d ack=%d %v of %d bytes, off=%d +%d bytes", f.Seq, f.Ack, f.Kind, p.Total, p.Off, len(rest))
	case f.Kind != KindData:
		return fmt.Sprintf("%v ack=%d", f.Kind, f.Ack)
	}
	if f.Flags&Encrypted != 0 {
		return fmt.Sprintf("seq=%d ack=%d encrypted, %d bytes", f.Seq, f.Ack, len(b)-LinkSize)
	}
	return fmt.Sprintf("seq=%d ack=%d %s", f.Seq, f.Ack, Describe(frame))
}

// Describe says in a few words what a frame is: its type, the fields that are
// not zero, and how many bytes of payload it has.
func Describe(b []byte) string {
	if len(b) == 0 {
		return "no frame"
	}
	t := Type(b[0])
	kind, ok := frames[t]
	if !ok {
		return fmt.Sprintf("%v that cannot be read", t)
	}
	f, payload, err := kind.read(b)
	if err != nil {
		return fmt.Sprintf("%v that cannot be read", t)
	}
	var s strings.Builder
	s.WriteString(kind.name)
	text := strings.Trim(fmt.Sprintf("%+v", f), "{}&")
	for _, field := range strings.Fields(text) {
		name, value, _ := strings.Cut(field, ":")
		if value == "0" || value == "false" || name == "Key" {
			continue
		}
		s.WriteString(" " + strings.ToLower(name))
		if value != "true" {
			s.WriteString("=" + value)
		}
	}
	if len(payload) > 0 {
		fmt.Fprintf(&s, " +%d bytes", len(payload))
	}
	return s.String()
}

// A frame says how frames of a type are called and read.
type frame struct {
	name string
	read func(b []byte) (f any, payload []byte, err error)
}

// frames are all types of frames.
var frames = map[Type]frame{
	TypeBye: loaded(ParseBye), TypeDone: loaded(ParseDone), TypeBeat: alone(ParseBeat),
	TypeData: loaded(parseData), TypeAck: alone(ParseAck), TypeNack: alone(ParseNack), TypeGo: alone(ParseGo),
	TypeRTS: alone(ParseRTS), TypeFetch: alone(ParseFetch), TypePiece: loaded(ParsePiece),
	TypeFetched: alone(ParseFetched), TypeAckReq: alone(ParseAckReq), TypeSettled: alone(ParseSettled),
	TypeRevoke: loaded(ParseRevoke), TypeFence: alone(ParseFence), TypeFenceAck: alone(ParseFenceAck),
	TypeAttach: loaded(ParseAttach), TypeAttached: alone(ParseAttached), TypePush: loaded(ParsePush),
	TypePut: loaded(ParsePut), TypeFlush: alone(ParseFlush), TypePull: alone(ParsePull),
	TypePulled: loaded(ParsePulled), TypeAtomic: alone(ParseAtomic), TypeResult: alone(ParseResult),
	TypeGuard: alone(ParseGuard), TypeIPush: loaded(ParseIPush), TypeIStop: alone(ParseIStop),
	TypeIGo: alone(ParseIGo), TypeKnock: alone(ParseKnock), TypeEvent: alone(ParseEvent),
}

// String returns the name that PROTOCOL gives the type.
func (t Type) String() string {
	if f, ok := frames[t]; ok {
		return f.name
	}
	return fmt.Sprintf("type %#02x", uint8(t))
}

// loaded is a type of frames with a payload.
func loaded[F any](parse func(b []byte) (F, []byte, error)) frame {
	return frame{
		strings.ToUpper(reflect.TypeFor[F]().Name()),
		func(b []byte) (any, []byte, error) { return parse(b) },
	}
}

// alone is a type of frames without one.
func alone[F any](parse func(b []byte) (F, error)) frame {
	return loaded(func(b []byte) (f F, payload []byte, err error) {
		f, err = parse(b)
		return f, nil, err
	})
}

// parseData is Data.Parse as a function.
func parseData(b []byte) (f Data, payload []byte, err error) {
	payload, err = f.Parse(b)
	return f, payload, err
}
