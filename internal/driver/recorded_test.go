package driver

import (
	"bytes"
	"testing"

	"weft/internal/engine/msg"
	"weft/internal/record/replay"
)

// What a recorded node has done is played back, and leads its engine to the same state: no
// call that changes the engine bypasses the recorder.
func TestRecordedNodeReplays(t *testing.T) {
	var tape bytes.Buffer
	r := newRig(t, Waiting{}, &tape)
	n := r.nodes[0]
	for _, text := range []string{"a", "message", "or", "four"} {
		r.send(1, text)
		r.want(r.receive(t.Context(), 0, r.ports[0]), text)
	}
	b := n.Reserve(r.ports[0], 1, 16)
	if b == nil {
		t.Fatal("there is no room for a draft")
	}
	copy(b.Data(), "a draft")
	if err := n.Commit(r.ports[0], 1, b, b.Use(), len("a draft")); err != nil {
		t.Fatal(err)
	}
	r.want(r.receive(t.Context(), 1, r.ports[1]), "a draft")
	if b = n.Reserve(r.ports[0], 1, 16); b != nil {
		n.Discard(r.ports[0], 1, b, b.Use())
	}
	region, err := n.Expose("region", make([]byte, 100), 0, false, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.pull(1, region, 100); err != nil {
		t.Fatal(err)
	}
	n.Withdraw(region)
	if _, ok, err := n.TryReceive(r.ports[0], msg.Any, nil); ok || err != nil {
		t.Fatal(ok, err)
	}
	n.ClosePort(r.ports[0])
	n.Close(0, "")
	got, err := replay.Play(&tape, nil)
	if err != nil || got.States == 0 {
		t.Errorf("replay: %d inputs, %d states compared: %v", got.Inputs, got.States, err)
	}
}
