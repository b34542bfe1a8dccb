package transporttest

import (
	"errors"
	"testing"

	"weft/internal/transport"
	"weft/internal/waittest"
)

func testMemory(t *testing.T, open Open) {
	nodes := connect(t, open, 2)
	mem := nodes[0].Memory()
	if !nodes[0].Caps().Direct {
		if mem != nil {
			t.Error("memory without Direct")
		}
		t.Skip("not promised")
	}
	id, ours, err := mem.Share(10000, false)
	if err != nil || len(ours.Bytes) < 10000 {
		t.Fatalf("%d bytes: %v", len(ours.Bytes), err)
	}
	for _, key := range []uint64{0, 7} {
		if _, err := nodes[1].Memory().Map(0, id, key, false); err == nil {
			t.Errorf("mapped with key %d before there was one", key)
		}
	}
	const key = 0x0123456789abcdef
	mem.Admit(id, key)
	for _, key := range []uint64{0, 7, key + 1} {
		if _, err := nodes[1].Memory().Map(0, id, key, false); err == nil {
			t.Errorf("mapped with key %d", key)
		}
	}
	theirs, err := nodes[1].Memory().Map(0, id, key, false)
	if err != nil || len(theirs.Bytes) != len(ours.Bytes) {
		t.Fatal(err)
	}
	ours.Bytes[1234] = 5
	theirs.Bytes[9999] = 6
	if theirs.Bytes[1234] != 5 || ours.Bytes[9999] != 6 {
		t.Error("it is not the same memory")
	}
	if again, err := nodes[1].Memory().Map(0, id, key, false); err != nil || again != theirs {
		t.Errorf("mapped twice: %v", err)
	}
	if _, err := nodes[1].Memory().Map(0, id+77, key, false); err == nil {
		t.Error("mapped memory that is not there")
	}
	if err := mem.Unshare(id); err != nil {
		t.Error(err)
	}
	if err := mem.Unshare(id); err == nil {
		t.Error("unshared twice")
	}
	waittest.Until(t, "the peer is told that the memory is taken back", theirs.Gone)
	ours.Bytes[0] = 1
	theirs.Bytes[0] = 1 // does no harm
	if _, err := nodes[1].Memory().Map(0, id, key, false); err == nil {
		t.Error("mapped memory that was taken back")
	}
	if n := nodes[1].Memory().Mapped(); n != 0 {
		t.Errorf("%d bytes are mapped", n)
	}
	testReadOnly(t, mem, nodes[1].Memory())
	err = nodes[1].Memory().Read(9, 4096, make([]byte, 8))
	if !errors.Is(err, transport.ErrUnknownPeer) && !errors.Is(err, transport.ErrNoAccess) {
		t.Errorf("reading from nobody: %v", err)
	}
}

// testReadOnly: memory that can only be read, and only by the peer that it was granted
// to.
func testReadOnly(t *testing.T, mem, peer transport.Memory) {
	id, ours, err := mem.Share(100, true)
	if err != nil {
		t.Fatal(err)
	}
	ours.Bytes[5] = 9
	mem.Grant(id, 2) // somebody else
	if _, err := peer.Map(0, id, 0, true); err == nil {
		t.Error("mapped memory that was granted to another")
	}
	mem.Grant(id, 1)
	if _, err := peer.Map(0, id, 0, false); err == nil {
		t.Error("mapped memory for writing that can only be read")
	}
	m, err := peer.Map(0, id, 0, true)
	if err != nil || !m.ReadOnly || m.Bytes[5] != 9 {
		t.Fatalf("%+v: %v", m, err)
	}
	if _, err := peer.Map(0, id, 0, false); err == nil {
		t.Error("a mapping for reading only was given for one that can be written to")
	}
	if err := mem.Unshare(id); err != nil {
		t.Error(err)
	}
}
