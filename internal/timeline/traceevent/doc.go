// Package traceevent writes the timeline of a job as a file that ui.perfetto.dev opens, in the
// Trace Event Format that Chrome's tracing made common, and reads such a file back.
//
// A file is one JSON object. Its list traceEvents has one event a line, in the order of time:
// M names a process or a track, B and E are the beginning and the end of what a track shows,
// i is a moment, and s and f are the ends of an arrow. The event of an arrow belongs to what
// is open on its track.
package traceevent
