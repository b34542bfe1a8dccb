// Package perfetto writes the timeline of a job as a file that ui.perfetto.dev opens: a
// Trace of TracePackets with TrackEvents, in protobuf. The numbers of the fields are those
// of perfetto's trace_packet.proto, track_descriptor.proto, track_event.proto,
// debug_annotation.proto and interned_data.proto.
package perfetto
