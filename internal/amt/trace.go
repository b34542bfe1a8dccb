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

// A Part is what one rank of a job has sent.
type Part struct {
	Rank    int    `json:"rank"`
	Size    int    `json:"size"`
	Job     string `json:"job"` // equal for the parts of one job
	Program string `json:"program"`
	Rows    []Row  `json:"-"`
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
// Parts may follow each other in one file.
type Head struct {
	Trace int `json:"trace"` // TraceVersion
	Part
	Rows int `json:"rows"` // how many rows follow
}

// TraceVersion is the version of the file of a trace.
const TraceVersion = 1

// MaxRanks bounds the size of the job that a file of a trace or a table is for.
const MaxRanks = 1 << 20

// Write writes the part.
func (p *Part) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	err := e.Encode(Head{TraceVersion, *p, len(p.Rows)})
	for _, r := range p.Rows {
		if err == nil {
			err = e.Encode(r)
		}
	}
	return errors.Join(err, out.Flush())
}
