package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"weft"
)

// TestStore: the last two steps are kept, damage is noticed, and what is half written is not found.
func TestStore(t *testing.T) {
	s := &store{dir: filepath.Join(t.TempDir(), "new"), rank: 1}
	state := []float64{1, 2.5, -3}
	got := make([]float64, 3)
	for step := 10; step <= 40; step += 10 {
		state[0]++
		if err := s.save(step, state); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, ".rank1.step50123"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other := &store{dir: s.dir, rank: 11}
	if err := other.save(90, state); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.steps(), []int{30, 40}) || s.newest() != 40 {
		t.Errorf("kept: %v", s.steps())
	}
	if err := s.load(40, got); err != nil || !slices.Equal(got, state) {
		t.Errorf("%v, %v", got, err)
	}
	if err := s.load(40, got[:2]); err == nil {
		t.Error("a state of another length is loaded")
	}
	b, err := os.ReadFile(s.name(30))
	if err != nil {
		t.Fatal(err)
	}
	b[9] ^= 1
	if err := os.WriteFile(s.name(30), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.load(30, got); err == nil {
		t.Error("damage is not noticed")
	}
	if err := s.clear(); err != nil || s.newest() != 0 || other.newest() != 90 {
		t.Errorf("%v, %v: %v", s.steps(), other.steps(), err)
	}
}

// TestNobodyDies: a run without a restart leaves nothing behind.
func TestNobodyDies(t *testing.T) {
	*dir = t.TempDir()
	if err := weft.Local(t.Context(), 3,
		func(ctx context.Context, p *weft.Proc) error { return run(ctx, p) }); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(*dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
