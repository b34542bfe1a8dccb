package msg

import (
	"slices"
	"testing"

	"weft/internal/engine/link"
	"weft/internal/engine/wire"
)

// A rig is one message layer, and the frames that it sends to each rank. There are no links:
// a test takes the frames, and delivers those of peers.
type rig struct {
	t      testing.TB
	layer  *Layer
	queues map[int]*link.Queue
	lanes  map[int]*lane // where frames go straight to a transport
}

// A lane is a transport that takes frames at once.
type lane struct{ frames [][]byte }

func (l *lane) Push(head, payload []byte, _ bool) bool {
	l.frames = append(l.frames, append(slices.Clone(head), payload...))
	return true
}

// connect makes the frames for a rank go straight to a transport.
func (r *rig) connect(rank int) {
	r.lanes = map[int]*lane{rank: {}}
	r.layer.queue(rank).Through(r.lanes[rank], 1<<16)
}

// newRig returns the layer of rank 0 of a job of some size.
func newRig(t testing.TB, size int) *rig { return newRigOf(t, 0, size) }

// newRigOf returns the layer of a rank.
func newRigOf(t testing.TB, me, size int) *rig {
	r := &rig{t: t, queues: map[int]*link.Queue{}}
	r.layer = NewLayer(me, size, func(rank int) *link.Queue {
		if r.queues[rank] == nil {
			r.queues[rank] = link.NewQueue(rank, new(link.Active))
		}
		return r.queues[rank]
	})
	return r
}

func (r *rig) open(cfg Config) *Port {
	p, err := r.layer.Open(1, cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// take returns the frames for a rank, which have been sent then.
func (r *rig) take(rank int) (frames [][]byte) {
	if l := r.lanes[rank]; l != nil {
		frames = l.frames
		l.frames = nil
	}
	q := r.queues[rank]
	for q != nil {
		head, payload, _, ok := q.Next(1<<16, true)
		if !ok {
			break
		}
		frames = append(frames, append(slices.Clone(head), payload...))
		q.Sent(len(payload))
	}
	return frames
}

// says delivers a frame of a rank, and returns what the node sends to it then.
func (r *rig) says(from int, frame []byte) (answers []string) {
	r.t.Helper()
	if err := r.layer.Recv(1, from, frame); err != nil {
		r.t.Fatal(err)
	}
	for _, b := range r.take(from) {
		answers = append(answers, wire.Describe(b))
	}
	return answers
}

// told checks which ranks have been told to come since the last look.
func (r *rig) told(what string, want ...int) {
	r.t.Helper()
	var got []int
	for _, rank := range sortedKeys(r.queues) {
		for _, b := range r.take(rank) {
			if wire.Type(b[0]) == wire.TypeGo {
				got = append(got, rank)
			}
		}
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("%s: ranks %v are told to come, want %v", what, got, want)
	}
}

func data(channel uint16, seq uint32, n int) []byte {
	f := &wire.Data{Channel: channel, Seq: seq, Total: uint32(n)}
	return append(f.Append(nil), make([]byte, n)...)
}
