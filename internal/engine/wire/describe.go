package wire

import (
	"fmt"
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
	f, n, err := fields(b)
	if err != nil {
		return fmt.Sprintf("%v that cannot be read", Type(b[0]))
	}
	var s strings.Builder
	s.WriteString(Type(b[0]).String())
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
	if n > 0 {
		fmt.Fprintf(&s, " +%d bytes", n)
	}
	return s.String()
}

// fields parses any frame, and returns the length of its payload.
func fields(b []byte) (f any, n int, err error) {
	var payload []byte
	switch Type(b[0]) {
	case TypeBye:
		f, err = ParseBye(b)
	case TypeDone:
		f, err = ParseDone(b)
	case TypeBeat:
		f, err = ParseBeat(b)
	case TypeData:
		var d Data
		payload, err = d.Parse(b)
		f = d
	case TypeAck:
		f, err = ParseAck(b)
	case TypeNack:
		f, err = ParseNack(b)
	case TypeGo:
		f, err = ParseGo(b)
	case TypeRTS:
		f, err = ParseRTS(b)
	case TypeFetch:
		f, err = ParseFetch(b)
	case TypePiece:
		f, payload, err = ParsePiece(b)
	case TypeFetched:
		f, err = ParseFetched(b)
	case TypeAckReq:
		f, err = ParseAckReq(b)
	case TypeSettled:
		f, err = ParseSettled(b)
	case TypeRevoke:
		f, payload, err = ParseRevoke(b)
	case TypeFence:
		f, err = ParseFence(b)
	case TypeFenceAck:
		f, err = ParseFenceAck(b)
	case TypeAttach:
		f, payload, err = ParseAttach(b)
	case TypeAttached:
		f, err = ParseAttached(b)
	case TypePush:
		f, payload, err = ParsePush(b)
	case TypePut:
		f, payload, err = ParsePut(b)
	case TypeFlush:
		f, err = ParseFlush(b)
	case TypePull:
		f, err = ParsePull(b)
	case TypePulled:
		f, payload, err = ParsePulled(b)
	case TypeAtomic:
		f, err = ParseAtomic(b)
	case TypeResult:
		f, err = ParseResult(b)
	case TypeGuard:
		f, err = ParseGuard(b)
	case TypeIPush:
		f, payload, err = ParseIPush(b)
	case TypeIStop:
		f, err = ParseIStop(b)
	case TypeIGo:
		f, err = ParseIGo(b)
	case TypeKnock:
		f, err = ParseKnock(b)
	case TypeEvent:
		f, err = ParseEvent(b)
	default:
		err = ErrType
	}
	return f, len(payload), err
}
