package amt

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A Kind is a way to send something.
type Kind uint8

// The kinds. What a collective operation of all ranks sends is apart from what
// ranks send to partners of theirs.
const (
	Send Kind = iota
	IPush
	Push
	Put
	Pull
	Atomic
	Collective

	Kinds = iota // how many there are
)

// kindNames are the names of kinds in files.
var kindNames = [Kinds]string{"send", "ipush", "push", "put", "pull", "atomic", "collective"}

// MarshalText returns the kind's name in a trace.
func (k Kind) MarshalText() ([]byte, error) { return []byte(kindNames[k]), nil }

// UnmarshalText sets the kind to the one of that name.
func (k *Kind) UnmarshalText(name []byte) error {
	i := slices.Index(kindNames[:], string(name))
	if i < 0 {
		return fmt.Errorf("kind %q: must be one of %v", name, kindNames)
	}
	*k = Kind(i)
	return nil
}

// A Count is how much was sent.
type Count struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
	Largest  uint64 `json:"largest"`
}

// A Row is what a rank has sent to another in one way.
type Row struct {
	To   int  `json:"to"`
	Kind Kind `json:"kind"`
	Count
}

// An Event is what happened at a rank: it sent a message, a receive was posted there, or a message came that receives
// are matched with. The last two are of package mpi.
type Event struct {
	What Happening `json:"what"`
	Peer int       `json:"peer"`           // to which, or from which; -1: a receive from any rank
	Tag  uint64    `json:"tag,omitempty"`  // of a receive or a message that came: what it is matched by, besides Peer
	Mask uint64    `json:"mask,omitempty"` // of a receive: the bits of Tag that count
	Kind Kind      `json:"kind"`           // of a message that was sent
	Size int       `json:"size,omitempty"` // likewise, in bytes
}

// A Happening is what an Event tells of.
type Happening string

// The happenings.
const (
	Sent   Happening = "sent"
	Posted Happening = "posted"
	Came   Happening = "came"
)

// MaxEvents is how many events of a rank a trace keeps.
const MaxEvents = 1 << 20

// A Part is what one rank of a job has sent, and the first of its events in order.
type Part struct {
	Rank    int     `json:"rank"`
	Size    int     `json:"size"`
	Job     string  `json:"job"` // equal for the parts of one job
	Program string  `json:"program"`
	Rows    []Row   `json:"-"`
	Events  []Event `json:"-"`
}

// A Head is the first line of a part in a file of JSON lines,
//
//	{"trace":1,"rank":0,"size":64,"job":"5f0c…","program":"cg","rows":2}
//
// which so many rows follow:
//
//	{"to":1,"kind":"send","messages":450,"bytes":6300000,"largest":14000}
//	{"to":32,"kind":"collective","messages":31,"bytes":248,"largest":8}
//
// Behind the rows come so many events as the head says:
//
//	{"what":"posted","peer":3,"tag":7,"mask":18446744073709551615,"kind":"send"}
//	{"what":"sent","peer":1,"kind":"send","size":14000}
//
// Parts may follow each other in one file.
type Head struct {
	Trace int `json:"trace"` // TraceVersion
	Part
	Rows   int `json:"rows"`             // how many rows follow
	Events int `json:"events,omitempty"` // and behind them, events
}

// TraceVersion is the version of the file of a trace.
const TraceVersion = 1

// MaxRanks bounds the size of the job that a file of a trace or a table is for.
const MaxRanks = 1 << 20

// Write writes the part.
func (p *Part) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	err := e.Encode(Head{TraceVersion, *p, len(p.Rows), len(p.Events)})
	for _, r := range p.Rows {
		if err == nil {
			err = e.Encode(r)
		}
	}
	for _, v := range p.Events {
		if err == nil {
			err = e.Encode(v)
		}
	}
	return errors.Join(err, out.Flush())
}
