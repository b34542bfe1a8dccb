package traceevent

// The phases of events, as the format calls their kinds.
const (
	metadata     = "M"
	begin        = "B"
	end          = "E"
	moment       = "i"
	messageStart = "s"
	messageEnd   = "f"
)

// The beginning and the end of a file.
const (
	head = `{"displayTimeUnit":"ns","traceEvents":[` + "\n"
	tail = "]}\n"
)

// An event is one of a file.
type event struct {
	Phase    string  `json:"ph"`
	Scope    string  `json:"s,omitempty"`  // of a moment: that of its track (t), or of its process (p)
	Bound    string  `json:"bp,omitempty"` // of a messageEnd: e, it belongs to what is open
	Process  int     `json:"pid"`
	Thread   int     `json:"tid"`
	Time     float64 `json:"ts"`            // in microseconds: three digits after the point keep every nanosecond
	Category string  `json:"cat,omitempty"` // the groups that the viewer can show or hide
	Name     string  `json:"name,omitempty"`
	ID       string  `json:"id,omitempty"` // of a message: a text, since a number of JavaScript has 53 bits
	Args     any     `json:"args,omitempty"`
}

// told is what the arguments of an operation, or of packets, tell.
type told struct {
	Rank    *int32 `json:"rank,omitempty"`
	Phase   uint64 `json:"phase,omitempty"`
	Bytes   uint64 `json:"bytes,omitempty"`
	Packets uint16 `json:"packets,omitempty"`
	Again   uint64 `json:"again,omitempty"`
	Ended   string `json:"ended,omitempty"`
}
