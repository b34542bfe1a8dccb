package advise

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"weft/internal/amt"
)

// maxLine bounds a line, in bytes.
const maxLine = 4096

// ErrEmpty reports that no rank has left a part: none has come to its end.
var ErrEmpty = errors.New("amt: the trace is empty: ranks write theirs when they leave the job")

// A LineError reports a line that is none of a trace.
type LineError struct {
	Line int
	Why  string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("amt: line %d of the trace: %s", e.Line, e.Why)
}

// ReadParts reads the parts in a file. An empty one has none.
func ReadParts(r io.Reader) ([]amt.Part, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var parts []amt.Part
	n := 0
	left := 0   // rows left of the last part
	events := 0 // and events
	for lines.Scan() {
		n++
		if left > 0 {
			p := &parts[len(parts)-1]
			row, why := readRow(lines.Bytes(), p.Size)
			if why != "" {
				return nil, &LineError{n, why}
			}
			p.Rows = append(p.Rows, row)
			left--
			continue
		}
		if events > 0 {
			p := &parts[len(parts)-1]
			event, why := readEvent(lines.Bytes(), p.Size)
			if why != "" {
				return nil, &LineError{n, why}
			}
			p.Events = append(p.Events, event)
			events--
			continue
		}
		h, why := readHead(lines.Bytes())
		if why != "" {
			return nil, &LineError{n, why}
		}
		parts = append(parts, h.Part)
		left = h.Rows
		events = h.Events
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, &LineError{n + 1, "it is too long"}
	} else if err != nil {
		return nil, err
	}
	if left+events > 0 {
		return nil, &LineError{n + 1, fmt.Sprintf("it ends, where %d more rows and events belong", left+events)}
	}
	return parts, nil
}

// readHead reads the first line of a part, or says why it is none. Files are not trusted: the size bounds what a
// reader allocates.
func readHead(line []byte) (h amt.Head, why string) {
	if err := json.Unmarshal(line, &h); err != nil {
		return h, "it is no head of a part: " + err.Error()
	}
	switch {
	case h.Trace != amt.TraceVersion:
		why = fmt.Sprintf(`it is no head of a part with "trace":%d`, amt.TraceVersion)
	case h.Size < 1 || h.Size > amt.MaxRanks:
		why = fmt.Sprintf("size %d: must be from 1 to %d", h.Size, amt.MaxRanks)
	case h.Rank < 0 || h.Rank >= h.Size:
		why = fmt.Sprintf("rank %d of %d", h.Rank, h.Size)
	case h.Rows < 0 || h.Rows > h.Size*amt.Kinds:
		why = fmt.Sprintf("%d rows: there can be %d", h.Rows, h.Size*amt.Kinds)
	case h.Events < 0 || h.Events > amt.MaxEvents:
		why = fmt.Sprintf("%d events: there can be %d", h.Events, amt.MaxEvents)
	}
	return h, why
}

// readEvent reads a line of the events of a part, or says why it is none.
func readEvent(line []byte, size int) (e amt.Event, why string) {
	if err := json.Unmarshal(line, &e); err != nil {
		return e, "it is no event of a part: " + err.Error()
	}
	switch {
	case e.What != amt.Sent && e.What != amt.Posted && e.What != amt.Came:
		return e, fmt.Sprintf("%q is no event", e.What)
	case e.Peer >= size || e.Peer < 0 && (e.Peer != -1 || e.What != amt.Posted):
		return e, fmt.Sprintf("rank %d of %d", e.Peer, size)
	}
	return e, ""
}

// readRow reads another line of a part, or says why it is none.
func readRow(line []byte, size int) (r amt.Row, why string) {
	if err := json.Unmarshal(line, &r); err != nil {
		return r, "it is no row of a part: " + err.Error()
	}
	if r.To < 0 || r.To >= size {
		return r, fmt.Sprintf("to rank %d of %d", r.To, size)
	}
	return r, ""
}
