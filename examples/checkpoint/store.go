package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A store keeps what a rank has saved: the last two steps, each in a file of its own. A file is there as a whole or not
// at all, whenever the process or its machine dies: it is written under another name, and to the disk, before it gets
// its own.
type store struct {
	dir  string
	rank int
}

func (s *store) name(step int) string {
	return filepath.Join(s.dir, fmt.Sprintf("rank%d.step%d", s.rank, step))
}

// steps returns the steps that are saved, in order.
func (s *store) steps() []int {
	names, _ := filepath.Glob(filepath.Join(s.dir, fmt.Sprintf("rank%d.step*", s.rank)))
	var steps []int
	for _, name := range names {
		var rank, step int
		if n, _ := fmt.Sscanf(filepath.Base(name), "rank%d.step%d", &rank, &step); n == 2 && s.name(step) == name {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	return steps
}

// newest returns the last step that is saved, or 0.
func (s *store) newest() int {
	if steps := s.steps(); len(steps) > 0 {
		return steps[len(steps)-1]
	}
	return 0
}

// save saves a step, and forgets all but the one before it, which other ranks may need that have not got so far.
func (s *store) save(step int, state []float64) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	b := make([]byte, 4, 4+8*len(state))
	b, err := binary.Append(b, binary.LittleEndian, state)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
	if err := replace(s.name(step), b); err != nil {
		return err
	}
	old := s.steps()
	for _, step := range old[:max(len(old)-2, 0)] {
		if err := os.Remove(s.name(step)); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a file as a whole.
func replace(name string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // unless it has its own name by then
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// load reads a step.
func (s *store) load(step int, state []float64) error {
	b, err := os.ReadFile(s.name(step))
	if err != nil {
		return err
	}
	if len(b) != 4+8*len(state) || binary.LittleEndian.Uint32(b) != crc32.ChecksumIEEE(b[4:]) {
		return fmt.Errorf("%s: damaged, or of a job of another size", s.name(step))
	}
	_, err = binary.Decode(b[4:], binary.LittleEndian, state)
	return err
}

// clear forgets everything that this rank has saved.
func (s *store) clear() error {
	for _, step := range s.steps() {
		if err := os.Remove(s.name(step)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
