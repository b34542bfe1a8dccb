package weft

import (
	"context"
	"fmt"
	"sync"

	"weft/internal/hostbarrier"
	"weft/internal/transport"
)

// arenas is the memory in which barriers of this host are: of this rank, where it is the first member, and of others.
type arenas struct {
	mu     sync.Mutex // held while an arena is made or mapped
	own    []*hostbarrier.Arena
	first  *Region                      // the memory of the first of them
	mapped map[int][]*transport.Mapping // by rank
}

// arenaName is the name of the region that is the i-th arena of a rank.
func arenaName(i int) string { return fmt.Sprintf("%sbarriers/%d", reserved, i) }

// placeBarrier makes room for a barrier of n members on this host, of which this rank is the first.
func (p *Proc) placeBarrier(ctx context.Context, id uint64, n int) (*hostbarrier.Arena, []byte, error) {
	a := &p.arenas
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := len(a.own) - 1; i >= 0; i-- {
		if memory := a.own[i].Place(id, n); memory != nil {
			return a.own[i], memory, nil
		}
	}
	r, err := p.expose(ctx, arenaName(len(a.own)), hostbarrier.ArenaSize(n), nil)
	if err != nil {
		return nil, nil, err
	}
	if a.first == nil {
		a.first = r
	}
	arena := hostbarrier.NewArena(r.Bytes())
	a.own = append(a.own, arena)
	hostbarrier.SetArenas(a.first.Bytes(), len(a.own))
	return arena, arena.Place(id, n), nil
}

// findBarrier returns the memory of a barrier, which the first of the members on this host has placed before all met.
func (p *Proc) findBarrier(ctx context.Context, name string, id uint64, local []int) ([]byte, error) {
	a := &p.arenas
	a.mu.Lock()
	defer a.mu.Unlock()
	owner := local[0]
	for i := 0; i == 0 || i < hostbarrier.Arenas(a.mapped[owner][0].Bytes); i++ {
		if i == len(a.mapped[owner]) {
			r, err := p.attach(ctx, owner, arenaName(i))
			if err == nil && r.direct == nil { // a rank that has left since it answered says so the next time
				r, err = p.attach(ctx, owner, arenaName(i))
			}
			if err != nil {
				return nil, err
			}
			if r.direct == nil || r.direct.ReadOnly || len(r.direct.Bytes) < hostbarrier.ArenaSize(0) {
				return nil, fmt.Errorf("weft: barrier %q: the memory of rank %d cannot be mapped", name, owner)
			}
			a.mapped[owner] = append(a.mapped[owner], r.direct)
		}
		if memory := hostbarrier.Find(a.mapped[owner][i].Bytes, id, len(local)); memory != nil {
			return memory, nil
		}
	}
	gone := &PeerError{Rank: owner, Cause: ErrClosed, Clean: true}
	return nil, &BrokenError{Name: name, Phase: 1, Rank: owner, Err: gone}
}
