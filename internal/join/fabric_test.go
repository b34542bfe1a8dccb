package join

import (
	"strings"
	"testing"
)

// A rank on another host is reached by libfabric if both have the same provider. Else the reason is told.
func TestFabric(t *testing.T) {
	const (
		verbs = "10.0.0.1:7 verbs;ofi_rxm"
		near  = "10.0.0.2:7 verbs;ofi_rxm"
		efa   = "10.0.0.2:7 efa"
	)
	for _, c := range []struct {
		transport, mine, theirs, host, why string
		card, want                         string // the first words of why it is used, or of why not
	}{
		{Auto, verbs, near, "b", "", near, "another host, and libfabric has verbs;ofi_rxm"},
		{Auto, verbs, near, "a", "", "", ""},
		{Auto, verbs, efa, "b", "", "", "its provider of libfabric is another; "},
		{Auto, verbs, "", "b", "", "", "it has no libfabric; "},
		{Auto, "", near, "b", "", "", ""}, // this program is without the module
		{Auto, "", near, "b", "weft: fabric: efa on x: fi_enable: no", "", "no libfabric (efa on x: fi_enable: no); "},
		{fabricName, verbs, near, "a", "", near, "-transport fabric was asked for"},
	} {
		m := &Member{Settings: Settings{Transport: c.transport}, card: Card{Fabric: c.mine}, noFabric: c.why}
		m.Job.Host = "a"
		theirs := Card{Host: c.host, Fabric: c.theirs}
		card, why := m.reaches(fabricName, theirs)
		if card == "" && c.host == "b" {
			_, why = m.reaches(udpName, theirs)
			why = strings.TrimPrefix(why, "another host, so UDP; ")
		}
		if card != c.card || !strings.HasPrefix(why, c.want) {
			t.Errorf("%+v: card %q, since %q", c, card, why)
		}
	}
}
