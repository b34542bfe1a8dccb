package perfetto

import "google.golang.org/protobuf/encoding/protowire"

// The numbers of the fields that are written, by message.
const (
	tracePacket = 1 // of Trace

	packetTimestamp  = 8 // of TracePacket
	packetSequence   = 10
	packetTrackEvent = 11
	packetInterned   = 12
	packetFlags      = 13
	packetDescriptor = 60

	descriptorUUID    = 1 // of TrackDescriptor
	descriptorName    = 2
	descriptorProcess = 3
	descriptorParent  = 5

	processPID       = 1 // of ProcessDescriptor
	processSortIndex = 3
	processName      = 6

	internedCategories  = 1 // of InternedData
	internedEventNames  = 2
	internedAnnotations = 3

	internedID   = 1 // of each entry of InternedData
	internedName = 2

	eventCategory    = 3 // of TrackEvent, interned
	eventAnnotations = 4
	eventType        = 9
	eventName        = 10 // interned
	eventTrack       = 11
	eventFlow        = 47

	annotationName   = 1 // of DebugAnnotation, interned
	annotationUint   = 3
	annotationInt    = 4
	annotationString = 6
)

// The values of TrackEvent.type and of TracePacket.sequence_flags.
const (
	sliceBegin = 1
	sliceEnd   = 2
	instant    = 3

	stateCleared = 1
	needsState   = 2
)

// A message is a protobuf message that is being written.
type message []byte

// uint appends a field of type uint64, int64, enum or bool, as a varint.
func (m *message) uint(field protowire.Number, v uint64) {
	*m = protowire.AppendTag(*m, field, protowire.VarintType)
	*m = protowire.AppendVarint(*m, v)
}

// fixed appends a field of type fixed64.
func (m *message) fixed(field protowire.Number, v uint64) {
	*m = protowire.AppendTag(*m, field, protowire.Fixed64Type)
	*m = protowire.AppendFixed64(*m, v)
}

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendBytes(*m, b)
}

func (m *message) string(field protowire.Number, s string) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendString(*m, s)
}
