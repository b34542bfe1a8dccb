package perfetto

import (
	"bufio"

	"google.golang.org/protobuf/encoding/protowire"
)

// A sequence is the packets of one rank. What they refer to by number is theirs alone:
// names are written once, with the first packet that uses them.
type sequence struct {
	out    *bufio.Writer
	number uint64
	begun  bool

	names       map[string]uint64
	annotations map[string]uint64
	fresh       message // interned data that has not been written

	packet, event, note message // scratch memory
}

// newSequence begins a sequence of packets. Names are written once, and then stand as numbers (interning).
func newSequence(out *bufio.Writer, number uint64) *sequence {
	s := &sequence{out: out, number: number, names: map[string]uint64{}, annotations: map[string]uint64{}}
	for i, name := range categories {
		s.intern(internedCategories, uint64(i+1), name)
	}
	return s
}

// intern gives a name its number.
func (s *sequence) intern(list protowire.Number, id uint64, name string) {
	var entry message
	entry.uint(internedID, id)
	entry.string(internedName, name)
	s.fresh.bytes(list, entry)
}

// id returns the number of a name in a list, and writes the name when it is used first.
func (s *sequence) id(known map[string]uint64, list protowire.Number, name string) uint64 {
	id := known[name]
	if id == 0 {
		id = uint64(len(known) + 1)
		known[name] = id
		s.intern(list, id, name)
	}
	return id
}

// annotate adds a number, and say a text, to the event that is being written.
func (s *sequence) annotate(name string, v int64) {
	s.note = s.note[:0]
	s.note.uint(annotationName, s.id(s.annotations, internedAnnotations, name))
	if v >= 0 {
		s.note.uint(annotationUint, uint64(v))
	} else {
		s.note.uint(annotationInt, uint64(v))
	}
	s.event.bytes(eventAnnotations, s.note)
}

// say adds an annotation to the event that is being made.
func (s *sequence) say(name, text string) {
	s.note = s.note[:0]
	s.note.uint(annotationName, s.id(s.annotations, internedAnnotations, name))
	s.note.string(annotationString, text)
	s.event.bytes(eventAnnotations, s.note)
}

// start begins to write an event of a track.
func (s *sequence) start(kind uint64, track uint64) {
	s.event = s.event[:0]
	s.event.uint(eventType, kind)
	s.event.uint(eventTrack, track)
}

// name gives a category and a name to the event that is being made.
func (s *sequence) name(c category, name string) {
	s.event.uint(eventCategory, uint64(c)+1)
	s.event.uint(eventName, s.id(s.names, internedEventNames, name))
}

// finish writes the event.
func (s *sequence) finish(at uint64) error {
	s.packet = s.packet[:0]
	s.packet.uint(packetTimestamp, at)
	flags := uint64(needsState)
	if !s.begun {
		s.begun = true
		flags = needsState | stateCleared
	}
	s.packet.uint(packetSequence, s.number)
	s.packet.uint(packetFlags, flags)
	if len(s.fresh) > 0 {
		s.packet.bytes(packetInterned, s.fresh)
		s.fresh = s.fresh[:0]
	}
	s.packet.bytes(packetTrackEvent, s.event)
	return s.write()
}

// describe writes a TrackDescriptor.
func (s *sequence) describe(track message) error {
	s.packet = s.packet[:0]
	s.packet.uint(packetSequence, s.number)
	s.packet.bytes(packetDescriptor, track)
	return s.write()
}

// write writes the packet as one of a Trace.
func (s *sequence) write() error {
	var head [16]byte
	h := protowire.AppendTag(head[:0], tracePacket, protowire.BytesType)
	h = protowire.AppendVarint(h, uint64(len(s.packet)))
	if _, err := s.out.Write(h); err != nil {
		return err
	}
	_, err := s.out.Write(s.packet)
	return err
}
