package engine

import (
	"bytes"
	"testing"

	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/monotime"
)

// A transport of a lossy network that takes only some of the packets is offered the others again, as if they had
// never been offered: none is lost, and none counts as sent twice.
func TestTransportTakesLess(t *testing.T) {
	const (
		messages = 6
		size     = 1000
	) // one in a packet
	now := monotime.Time(1)
	var engines [2]*Engine
	var ports [2]*msg.Port
	for rank := range engines {
		key := uint64(rank) << 32
		e := New(Config{
			Rank: rank, Size: 2, Job: 1, Secret: make([]byte, 32), Incarnation: 1,
			Rand: func() uint64 { key++; return key },
		})
		e.Connect(now, 1-rank, Path{MTU: 1500, Lossy: true, Incarnation: 1})
		p, err := e.Msg.Open(1, msg.Config{})
		if err != nil {
			t.Fatal(err)
		}
		engines[rank] = e
		ports[rank] = p
	}
	sender := engines[0]
	receiver := engines[1]
	for i := range messages {
		if !ports[0].Give(1, bytes.Repeat([]byte{byte(i)}, size)) {
			t.Fatalf("message %d is not taken", i)
		}
	}
	var out [8]link.Packet
	for _, taken := range []int{2, 0, 1, messages} {
		rank, n, _ := sender.Output(now, out[:])
		taken = min(taken, n)
		for _, p := range out[:taken] {
			receiver.Recv(now, Unknown, append(bytes.Clone(p.Header), p.Payload...))
		}
		sender.Taken(now, rank, n, taken, out[:])
		if left := taken < n; left != sender.Blocked() {
			t.Errorf("%d of %d packets are taken: blocked %v", taken, n, sender.Blocked())
		}
		if _, n, _ := sender.Output(now, out[:]); sender.Blocked() && n != 0 {
			t.Errorf("%d packets are offered before the transport has room", n)
		}
		sender.Retry()
	}
	for i := range messages {
		b, _ := ports[1].Next(msg.Any)
		if b == nil || b.Data()[0] != byte(i) {
			t.Fatalf("message %d has not arrived, or out of order", i)
		}
		ports[1].Release(b)
	}
	if s := sender.Stats(); s.Sent.Packets != messages || s.Sent.Resent != 0 {
		t.Errorf("%d packets count as sent, %d as sent again; %d were", s.Sent.Packets, s.Sent.Resent, messages)
	}
}
