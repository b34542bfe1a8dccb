package doctor

import (
	"context"
	"encoding/json"
	"fmt"

	"weft"
)

// gathering is the channel on which ranks send their results to rank 0.
const gathering = 2

// Gather sends the results of all ranks of a job to rank 0. All ranks call it. On rank 0 it returns the report, on the
// others nil. For a rank that does not reach rank 0, the report has what rank 0 knows about it.
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
			return nil, nil // rank 0 has had the same error
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

// receive receives the results of a rank.
func receive(ctx context.Context, q *weft.Port, rank int) (r Rank, err error) {
	ctx, cancel := context.WithTimeout(ctx, pairTime)
	defer cancel()
	m, err := q.RecvFrom(ctx, rank)
	if err != nil {
		return r, err
	}
	defer m.Release()
	if err := json.Unmarshal(m.Data, &r); err != nil || r.Rank != rank {
		return r, fmt.Errorf("weft: doctor: rank %d sent %.100q: %w", rank, m.Data, err)
	}
	return r, nil
}

// unheard returns what rank 0 knows about a rank that has sent no results.
func unheard(mine *Rank, rank int) Rank {
	why := mine.peer(rank).Error
	if why == "" {
		why = "it sent no results"
	}
	host := Host{Name: fmt.Sprintf("rank %d", rank), Unheard: true}
	return Rank{Rank: rank, Host: host, Peers: []Peer{{Rank: 0, Error: why}}}
}
