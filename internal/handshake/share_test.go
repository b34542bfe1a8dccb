package handshake

import (
	"bytes"
	"testing"
)

// Two processes that know the secret have a root in common; a process with another secret has another root. Each
// pair of keys is a new one.
func TestEphemeral(t *testing.T) {
	secret := []byte("a secret of some length")
	a := NewEphemeral()
	b := NewEphemeral()
	ab := a.Root(secret, b.Share())
	if len(ab) == 0 || !bytes.Equal(ab, b.Root(secret, a.Share())) {
		t.Errorf("%x and %x", ab, b.Root(secret, a.Share()))
	}
	if bytes.Equal(ab, a.Root([]byte("another secret"), b.Share())) {
		t.Error("the secret does not count")
	}
	if c := NewEphemeral(); bytes.Equal(ab, c.Root(secret, b.Share())) || bytes.Equal(c.Share(), a.Share()) {
		t.Error("the keys of a process that starts again are the old ones")
	}
	for _, share := range [][]byte{nil, make([]byte, 5), make([]byte, 32)} {
		if root := a.Root(secret, share); root != nil {
			t.Errorf("share %x: %x", share, root)
		}
	}
}
