package eth

import (
	"fmt"
	"strings"
	"testing"
)

func FuzzCard(f *testing.F) {
	f.Add("02:00:00:00:00:01/1484")
	f.Add("ff:ff:ff:ff:ff:ff/1484")
	f.Add("02-00-00-00-00-01/9000")
	f.Add("02:00:00:00:00:01+02:00:00:00:00:02/1484")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseCard(s)
		if err != nil {
			return
		}
		if again, err := parseCard(c.String()); err != nil || again.String() != c.String() {
			t.Errorf("%q: %v, %v", s, again, err)
		}
		if len(c.macs) == 0 || len(c.macs) > maxDevices || c.macs[0][0]&1 != 0 || c.mtu < minMTU {
			t.Errorf("%q: %v", s, c)
		}
	})
}

// Cards are believed only within bounds, and come back as they were.
func TestCards(t *testing.T) {
	const mac = "02:00:00:00:00:01"
	trunk := mac + strings.Repeat("+"+mac, maxDevices-1)
	for text, fine := range map[string]bool{
		mac + "/1484": true, trunk + "/1484": true, trunk + "+" + mac + "/1484": false,
		fmt.Sprint(mac, "/", minMTU): true, fmt.Sprint(mac, "/", minMTU-1): false,
		fmt.Sprint(mac, "/", maxMTU): true, fmt.Sprint(mac, "/", maxMTU+1): false,
		"03:00:00:00:00:01/1484": false, "02:00:00:00:00:00:00:01/1484": false, mac: false, mac + "/x": false,
		mac + "/1472 10.0.0.1:4000/1472 10.0.0.1/24": true, mac + "/1472 10.0.0.1:4000/1472": false,
	} {
		c, err := parseCard(text)
		if (err == nil) != fine || fine && c.String() != text {
			t.Errorf("%s: %v, %v", text, c, err)
		}
	}
}

// Two interfaces are on one segment if each has the other's address in its own subnet. Where one has no socket for
// datagrams, or another family of addresses, nothing is known.
func TestSegments(t *testing.T) {
	for _, c := range []struct {
		a, b       string
		same, tell bool
	}{
		{"10.0.0.1/24", "10.0.0.2/24", true, true}, {"10.0.0.1/24", "10.0.1.2/24", false, true},
		{"10.0.0.1/16", "10.0.1.2/24", false, true}, {"10.0.1.2/24", "10.0.0.1/16", false, true},
		{"10.0.0.1/24", "fd00::1/64", false, false}, {"fd00::1/64", "fd00::2/64", true, true},
		{"", "10.0.0.2/24", false, false}, {"10.0.0.1/24", "", false, false},
	} {
		made := func(subnet string) card {
			text := "02:00:00:00:00:01/1472"
			if subnet != "" {
				text += " 10.0.0.1:4000/1472 " + subnet
			}
			made, err := parseCard(text)
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		a := made(c.a)
		b := made(c.b)
		if a.onSegment(b) != c.same || a.comparable(b) != c.tell {
			t.Errorf("%s and %s: on one segment %v, comparable %v", c.a, c.b, a.onSegment(b), a.comparable(b))
		}
	}
}
