package eth

import "testing"

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
