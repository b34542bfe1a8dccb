package rma

import (
	"slices"
	"testing"

	"weft/internal/engine/link"
)

// A rig is one layer of remote memory, and the frames that it sends to each rank. There are
// no links: a test takes the frames, and delivers those of peers.
type rig struct {
	t      testing.TB
	layer  *Layer
	room   int // bytes of a packet
	queues map[int]*link.Queue
}

func newRig(t testing.TB) *rig {
	r := &rig{t: t, room: 1 << 16, queues: map[int]*link.Queue{}}
	r.layer = NewLayer(func(rank int) *link.Queue {
		if r.queues[rank] == nil {
			r.queues[rank] = link.NewQueue(rank, new(link.Active))
			r.queues[rank].Resume = func() {}
		}
		return r.queues[rank]
	}, func() uint64 { return 42 })
	return r
}

// take returns the frames for a rank, which have been sent then, and how many of them wake it.
func (r *rig) take(rank int) (frames [][]byte, wake int) {
	for q := r.queues[rank]; q != nil; {
		head, payload, urgent, ok := q.Next(r.room, true)
		if !ok {
			break
		}
		if urgent {
			wake++
		}
		frames = append(frames, append(slices.Clone(head), payload...))
		q.Sent(len(payload))
	}
	return frames, wake
}

func (r *rig) says(from int, frame []byte) {
	r.t.Helper()
	if err := r.layer.Recv(from, frame, false); err != nil {
		r.t.Fatal(err)
	}
}
