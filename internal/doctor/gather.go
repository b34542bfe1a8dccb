package doctor

import (
	"context"
	"encoding/json"
	"fmt"

	"weft"
)

// gathering is the channel on which ranks tell rank 0 what they have found out.
const gathering = 2

// Gather brings what all ranks of a job have found out to rank 0, which gets a report; the
// others get nil. All ranks call it. A rank that does not reach rank 0 is in the report
// with what rank 0 knows of it.
func Gather(ctx context.Context, p *weft.Proc, mine Rank) (*Report, error) {
	q, err := p.OpenPort(gathering, nil)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	if p.Rank() > 0 {
		text, err := json.Marshal(mine)
		if err != nil {
			return nil, err
		}
		if mine.peer(0).Error != "" {
			return nil, nil // rank 0 has noticed, too
		}
		return nil, q.Send(ctx, 0, text)
	}
	report := &Report{Ranks: []Rank{mine}}
	for rank := 1; rank < p.Size(); rank++ {
		theirs, err := receive(ctx, q, rank)
		if err != nil || mine.peer(rank).Error != "" {
			theirs = unheard(&mine, rank)
		}
		report.Ranks = append(report.Ranks, theirs)
	}
	return report, ctx.Err()
}

// receive receives what a rank has found out.
func receive(ctx context.Context, q *weft.Port, rank int) (r Rank, err error) {
	ctx, cancel := context.WithTimeout(ctx, pairTime)
	defer cancel()
	m, err := q.RecvFrom(ctx, rank)
	if err != nil {
		return r, err
	}
	defer m.Release()
	if err := json.Unmarshal(m.Data, &r); err != nil || r.Rank != rank {
		return r, fmt.Errorf("weft: doctor: rank %d said %.100q: %w", rank, m.Data, err)
	}
	return r, nil
}

// unheard returns what rank 0 knows of a rank that has told nothing.
func unheard(mine *Rank, rank int) Rank {
	why := mine.peer(rank).Error
	if why == "" {
		why = "it told nothing of itself"
	}
	return Rank{Rank: rank, Host: Host{Name: fmt.Sprintf("rank %d", rank), Unheard: true}, Peers: []Peer{{Rank: 0, Error: why}}}
}
