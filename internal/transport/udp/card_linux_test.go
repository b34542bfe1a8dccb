package udp

import (
	"strings"
	"testing"

	"weft/internal/doorbell"
)

// TestAddressesThatPeersCannotUse are refused, in words that say why: to bind, and in the card of a peer.
func TestAddressesThatPeersCannotUse(t *testing.T) {
	for bind, why := range map[string]string{
		"0.0.0.0:0": "one address", "[::]:0": "one address", "[fe80::1%lo]:0": "fe80::1 is link-local",
		"[fe80::1]:0": "link-local",
	} {
		if _, err := resolve(bind); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want an error with %q", bind, err, why)
		}
	}
	for _, text := range []string{"[fe80::1%lo]:9/1400", "[::]:9/1400", "[ff02::1]:9/1400", "[::ffff:10.0.0.1]:9/1400"} {
		if c, err := parseCard(text); err == nil {
			t.Errorf("%s is believed: %v", text, c)
		}
	}
	u, err := Open(Config{Bell: doorbell.NewChan()})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if err := u.Dial(1, "[fd00::1]:9/1400"); err == nil || !strings.Contains(err.Error(), "of another family") {
		t.Errorf("a peer with IPv6 alone: %v", err)
	}
}
