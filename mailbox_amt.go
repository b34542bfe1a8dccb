package weft

import (
	"fmt"
	"os"

	"weft/internal/amt"
)

// envAMT names the file of an AMT (address management table), which says which
// receive rings each rank has, or is "auto".
const envAMT = "WEFT_AMT"

// amtAuto stands for rings that are given and taken while the job runs.
const amtAuto = "auto"

// amtRings are the receive rings that an AMT gives a rank. A nil one says nothing.
type amtRings struct {
	auto  bool         // the rest is empty: who gets a ring is decided while the job runs
	rings []int        // sizes in bytes; the first is for all senders that are not in the table
	table map[int]int  // sender to ring
	owned map[int]bool // the ranks at which we have a ring to ourselves
}

// An amtFile is an AMT, for a job of some size.
type amtFile struct {
	auto  bool
	table *amt.Table
}

// readAMT reads the AMT that text names; "" names none.
func readAMT(text string, size int) (*amtFile, error) {
	switch text {
	case "":
		return nil, nil
	case amtAuto:
		return &amtFile{auto: true}, nil
	}
	f, err := os.Open(text)
	if err != nil {
		return nil, fmt.Errorf("weft: %s: %w", envAMT, err)
	}
	defer f.Close()
	t, err := amt.ReadTable(f)
	if err == nil {
		err = t.Fits(size)
	}
	if err != nil {
		return nil, fmt.Errorf("weft: %s: %s: %w", envAMT, text, err)
	}
	return &amtFile{table: t}, nil
}

// of returns what the AMT says to a rank.
func (f *amtFile) of(rank int) *amtRings {
	switch {
	case f == nil:
		return nil
	case f.auto:
		return &amtRings{auto: true}
	}
	a := &amtRings{owned: f.table.OwnAt(rank)}
	if r, ok := f.table.Of(rank); ok {
		a.rings, a.table = r.Rings, r.Table
	}
	return a
}

// loadAMT takes over what the environment says.
func (p *Proc) loadAMT() error {
	f, err := readAMT(os.Getenv(envAMT), p.job.Size)
	p.amt = f.of(p.job.Rank)
	return err
}

// own tells the shared memory transport at which peers this process has a ring to
// itself from the first packet on, and at the others none; nil if it is to find out.
func (a *amtRings) own() func(peer int) bool {
	if a == nil || a.auto {
		return nil
	}
	return func(peer int) bool { return a.owned[peer] }
}
