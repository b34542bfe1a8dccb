package weft

import (
	"context"
	"fmt"

	"weft/internal/engine/coord"
)

// make makes the barrier if that has not been done. If it fails to reach other members it can be
// tried again.
func (b *Barrier) make(ctx context.Context) error {
	if b.made.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.made.Load() || b.err != nil {
		return b.err
	}
	if b.err = b.check(); b.err != nil {
		return b.err
	}
	c := coord.Config{Class: coord.Barrier, Name: b.name, Members: b.cfg.Members, Window: b.cfg.Window, Arity: b.cfg.Arity}
	if c.Window == 0 {
		c.Window = 8
	}
	algorithm := b.cfg.Algorithm
	b.why = "the program has chosen it"
	if algorithm == "" || algorithm == BarrierAuto {
		var err error
		if algorithm, b.why, err = b.choose(ctx); err != nil {
			return b.explain(err)
		}
	}
	b.why = string(algorithm) + ": " + b.why
	switch algorithm {
	case BarrierShared, BarrierTwoLevel:
		err := b.share(ctx, algorithm, c)
		b.made.Store(err == nil)
		return b.explain(err)
	case BarrierCentral:
		c.Algorithm = coord.Central
	case BarrierTree:
		c.Algorithm = coord.Tree
		c.Arity = max(c.Arity, 2)
	case BarrierDissemination:
		c.Algorithm = coord.Dissemination
	case BarrierShuffle:
		c.Algorithm = coord.Shuffle
	case BarrierModified:
		c.Algorithm = coord.ModifiedShuffle
	case BarrierAligned:
		c.Algorithm = coord.Central
		c.Aligned = true
		c.Window = 1
	case BarrierRBCQ1:
		c.Class = coord.Regions
		c.Window = 0
	}
	b.o, b.err = b.p.object(c)
	b.made.Store(b.err == nil)
	return b.err
}

// check checks the configuration as far as this rank can.
func (b *Barrier) check() error {
	if b.cfg.Algorithm != "" && b.cfg.Algorithm.Meaning() == "" {
		return fmt.Errorf("weft: barrier %q: algorithm %q: must be one of %q", b.name, b.cfg.Algorithm, BarrierAlgorithms())
	}
	if b.cfg.Window < 0 || b.cfg.Window > maxWindow {
		return &ConfigError{Field: "BarrierConfig.Window", Value: b.cfg.Window, Min: 1, Max: maxWindow}
	}
	if b.cfg.Arity < 0 || b.cfg.Arity == 1 {
		return &ConfigError{Field: "BarrierConfig.Arity", Value: b.cfg.Arity, Min: 2, Max: b.p.job.Size}
	}
	seen := map[int]bool{}
	for _, m := range b.cfg.Members {
		if err := b.p.check(m); err != nil {
			return err
		}
		if seen[m] {
			return fmt.Errorf("weft: barrier %q: rank %d is a member twice", b.name, m)
		}
		seen[m] = true
	}
	if b.cfg.Members != nil && !seen[b.p.job.Rank] {
		return &StateError{Name: b.name, Do: "use barrier", Err: ErrNotMember, Why: "this rank is not one of its members"}
	}
	all := len(b.cfg.Members) == b.p.job.Size
	for i, m := range b.cfg.Members {
		all = all && i == m
	}
	if all {
		b.cfg.Members = nil
	}
	return nil
}

const maxWindow = 1024
