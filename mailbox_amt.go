package weft

import (
	"os"

	"weft/internal/amt"
)

// envAMT names the file of an AMT (address management table), which says which
// receive rings each rank has, or is "auto".
const envAMT = "WEFT_AMT"

// amtAuto stands for rings that are assigned and taken back while the job runs.
const amtAuto = "auto"

// amtRings are the receive rings that an AMT gives to a rank. Nil means that there is no AMT.
type amtRings struct {
	auto  bool         // rings are assigned while the job runs; the other fields are empty
	rings []int        // sizes in bytes; the first is for all senders that are not in the table
	table map[int]int  // sender to ring
	owned map[int]bool // the ranks at which this rank has a ring of its own
}

// An amtFile is an AMT, for a job of some size.
type amtFile struct {
	auto  bool
	table *amt.Table
}

// readAMT reads the AMT in the file that text names. It returns nil if text is empty.
func readAMT(text string, size int) (*amtFile, error) {
	switch text {
	case "":
		return nil, nil
	case amtAuto:
		return &amtFile{auto: true}, nil
	}
	f, err := os.Open(text)
	if err != nil {
		return nil, &OptionError{Option: envAMT, Value: text, Err: err}
	}
	defer f.Close()
	t, err := amt.ReadTable(f)
	if err == nil {
		err = t.Fits(size)
	}
	if err != nil {
		return nil, &OptionError{Option: envAMT, Value: text, Err: err}
	}
	return &amtFile{table: t}, nil
}

// of returns the part of the AMT that concerns a rank.
func (f *amtFile) of(rank int) *amtRings {
	switch {
	case f == nil:
		return nil
	case f.auto:
		return &amtRings{auto: true}
	}
	a := &amtRings{owned: f.table.OwnAt(rank)}
	if r, ok := f.table.Of(rank); ok {
		a.rings = r.Rings
		a.table = r.Table
	}
	return a
}

// loadAMT reads the AMT that the environment names.
func (p *Proc) loadAMT() error {
	f, err := readAMT(os.Getenv(envAMT), p.job.Size)
	p.amt = f.of(p.job.Rank)
	return err
}

// own returns a function that tells the shared memory transport whether this process has a ring
// of its own at a peer, from the first packet on. Nil means that the transport decides by
// itself.
func (a *amtRings) own() func(peer int) bool {
	if a == nil || a.auto {
		return nil
	}
	return func(peer int) bool { return a.owned[peer] }
}
