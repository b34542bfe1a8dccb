package amt

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A part of a trace is lines of JSON: a head,
//
//	{"trace":1,"rank":0,"size":64,"job":"5f0c…","program":"cg","rows":2}
//
// and so many rows,
//
//	{"to":1,"kind":"send","messages":450,"bytes":6300000,"largest":14000}
//	{"to":32,"kind":"collective","messages":31,"bytes":248,"largest":8}
//
// Parts may follow each other in one file.

const (
	traceVersion = 1
	maxLine      = 4096
	maxRanks     = 1 << 20
)

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

// A headLine is the first line of a part: Rows lines follow.
type headLine struct {
	Trace   int    `json:"trace"`
	Rank    int    `json:"rank"`
	Size    int    `json:"size"`
	Job     string `json:"job"`
	Program string `json:"program"`
	Rows    int    `json:"rows"`
}

// A rowLine is what the rank of a part has sent to one rank in one way.
type rowLine struct {
	To   int    `json:"to"`
	Kind string `json:"kind"`
	Count
}

// Write writes the part.
func (p *Part) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	err := e.Encode(headLine{traceVersion, p.Rank, p.Size, p.Job, p.Program, len(p.Rows)})
	for _, r := range p.Rows {
		if err == nil {
			err = e.Encode(rowLine{r.To, r.Kind.String(), r.Count})
		}
	}
	return errors.Join(err, out.Flush())
}

// ReadParts reads the parts in a file. An empty one has none.
func ReadParts(r io.Reader) ([]Part, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var parts []Part
	n := 0
	left := 0 // rows left of the last part
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
		p, rows, why := readHead(lines.Bytes())
		if why != "" {
			return nil, &LineError{n, why}
		}
		parts = append(parts, p)
		left = rows
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, &LineError{n + 1, "it is too long"}
	} else if err != nil {
		return nil, err
	}
	if left > 0 {
		return nil, &LineError{n + 1, fmt.Sprintf("it ends, where %d more rows belong", left)}
	}
	return parts, nil
}

// readHead reads the first line of a part, or says why it is none. Files are not trusted: the size bounds what a
// reader allocates.
func readHead(line []byte) (p Part, rows int, why string) {
	var h headLine
	if err := json.Unmarshal(line, &h); err != nil {
		return p, 0, "it is not JSON: " + err.Error()
	}
	switch {
	case h.Trace != traceVersion:
		return p, 0, fmt.Sprintf(`no head of a part with "trace":%d`, traceVersion)
	case h.Size < 1 || h.Size > maxRanks:
		return p, 0, fmt.Sprintf("size %d: must be from 1 to %d", h.Size, maxRanks)
	case h.Rank < 0 || h.Rank >= h.Size:
		return p, 0, fmt.Sprintf("rank %d of %d", h.Rank, h.Size)
	case h.Rows < 0 || h.Rows > h.Size*Kinds:
		return p, 0, fmt.Sprintf("%d rows: there can be %d", h.Rows, h.Size*Kinds)
	}
	return Part{Rank: h.Rank, Size: h.Size, Job: h.Job, Program: h.Program}, h.Rows, ""
}

// readRow reads another line of a part, or says why it is none.
func readRow(line []byte, size int) (r Row, why string) {
	var l rowLine
	if err := json.Unmarshal(line, &l); err != nil {
		return r, "it is not JSON: " + err.Error()
	}
	kind := slices.Index(kindNames[:], l.Kind)
	switch {
	case kind < 0:
		return r, fmt.Sprintf("kind %q: must be one of %v", l.Kind, kindNames)
	case l.To < 0 || l.To >= size:
		return r, fmt.Sprintf("to rank %d of %d", l.To, size)
	}
	return Row{l.To, Kind(kind), l.Count}, ""
}
