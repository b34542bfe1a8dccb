package weft

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"weft/failure"
	"weft/internal/engine/coord"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mem"
	"weft/internal/sharedmem"
)

// RegionConfig configures a region. Zero values mean the defaults.
type RegionConfig struct {
	ReadOnly bool // other ranks may only Pull

	// Ranks are the ranks that may access the region, besides the rank that has it; nil means
	// all. Other ranks are refused with ErrForbidden when they attach, and can neither map the
	// memory nor reach it by packets.
	Ranks []int

	// Lock is the name of the Lock that guards the region: others access it only under a
	// grant of that lock (Remote.Under). An access is refused with ErrFenced if its grant
	// is older than one under which the region has been accessed, or was that of a holder
	// that counts as dead. Such a region is never mapped by others: each access is checked
	// by the rank that has the memory. Empty means no lock.
	Lock string
}

// A Region is memory of this process that other ranks reach by its name. They read and write it
// at any time. A program that looks at bytes while other ranks write them must use Load,
// Store or Await, or learn by a message that they have been written.
type Region struct {
	p      *Proc
	region *rma.Region
	size   int
	whole  sharedmem.Segment // including the word at its end that tells peers that the region is closed
	closed atomic.Bool

	mu   sync.Mutex
	told map[int]int // by offset: how many ends of ranks have been reported to waits for the word there
}

// OpenRegion makes size bytes of zeroed memory, from 0 to 1 TiB, that other ranks reach
// under a name of 1 to 255 bytes with AttachRegion, or with At if they have opened a
// region of the same name. It waits only if the region has a Lock, for the lock's home.
func (p *Proc) OpenRegion(ctx context.Context, name string, size int, cfg *RegionConfig) (*Region, error) {
	if err := checkRegionName(name); err != nil {
		return nil, err
	}
	return p.expose(ctx, name, size, cfg)
}

// reserved begins the names of regions that weft itself opens.
const reserved = "weft/"

func checkRegionName(name string) error {
	if len(name) < 1 || len(name) > wire.MaxName {
		return &ConfigError{Field: "length of the region's name", Value: len(name), Min: 1, Max: wire.MaxName}
	}
	if strings.HasPrefix(name, reserved) {
		return fmt.Errorf("weft: region %q: names that begin with %q are reserved for weft", name, reserved)
	}
	return nil
}

// expose is OpenRegion for any name.
func (p *Proc) expose(ctx context.Context, name string, size int, cfg *RegionConfig) (*Region, error) {
	if size < 0 || size > 1<<40 {
		return nil, &ConfigError{Field: "size of the region", Value: size, Min: 0, Max: 1 << 40}
	}
	readOnly := cfg != nil && cfg.ReadOnly
	ranks, err := p.permitted(cfg)
	if err != nil {
		return nil, err
	}
	var guard uint64
	if cfg != nil && cfg.Lock != "" {
		guard = coord.LockID(cfg.Lock)
	}
	var s sharedmem.Segment
	if guard != 0 {
		if s, err = p.memory.Private(size + 8); err != nil {
			return nil, err
		}
		_, err = p.node.Coordinate(ctx, nil, coord.Bind, guard)
		err = failure.Waited(err, fmt.Sprintf("lock %q, which guards region %q", cfg.Lock, name), "")
	} else if s, err = p.memory.Share(size+8, readOnly); err != nil {
		return nil, err
	}
	r := &Region{p: p, size: size, whole: s}
	if err == nil {
		r.region, err = p.node.Expose(name, r.Bytes(), s.ID, readOnly, guard, ranks)
	}
	if err != nil {
		_ = p.memory.Drop(s)
		return nil, err
	}
	p.open.Lock()
	defer p.open.Unlock()
	p.open.regions[r.region.ID] = r
	return r, nil
}

// permitted returns the ranks that may access a region, or nil if all may.
func (p *Proc) permitted(cfg *RegionConfig) ([]int, error) {
	if cfg == nil || cfg.Ranks == nil {
		return nil, nil
	}
	ranks := []int{p.job.Rank}
	for _, rank := range cfg.Ranks {
		if err := p.check(rank); err != nil {
			return nil, err
		}
		ranks = append(ranks, rank)
	}
	return ranks, nil
}

// Bytes returns the region's memory, which the program may read and write. It must not be used
// after Close, because the system may use its addresses for something else.
func (r *Region) Bytes() []byte { return r.whole.Bytes[:r.size:r.size] }

// Load reads the 8-byte word at off atomically. It panics unless off is a multiple of 8 inside
// the region. After Close the result is undefined.
func (r *Region) Load(off int) uint64 {
	v := mem.Load64(r.Bytes(), off)
	runtime.KeepAlive(r)
	return v
}

// Store writes the 8-byte word at off atomically. It panics as Load does.
func (r *Region) Store(off int, v uint64) {
	mem.Store64(r.Bytes(), off, v)
	runtime.KeepAlive(r)
}

// At attaches to the region of the same name that another rank has opened; see
// Proc.AttachRegion.
func (r *Region) At(ctx context.Context, rank int) (*Remote, error) {
	return r.p.AttachRegion(ctx, rank, r.region.Name)
}

// Close closes the region: operations of other ranks fail with ErrClosed, and so does Await. The
// memory goes back to the system, also where ranks on this host have mapped it: the slice that
// Bytes has returned must not be used any more.
func (r *Region) Close() error {
	if r.closed.Swap(true) {
		return ErrClosed
	}
	mem.Store64(r.whole.Bytes, len(r.whole.Bytes)-8, 1)
	r.p.node.Withdraw(r.region)
	r.p.open.Lock()
	delete(r.p.open.regions, r.region.ID)
	r.p.open.Unlock()
	return r.p.memory.Drop(r.whole)
}
