package breakdown

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// The parts of a round are put together as the table says, from medians.
func TestWays(t *testing.T) {
	p := paths{
		call: 0.5, line: 0.25, wake: 10, protocol: 1, frame: frame{socket: 2, wire: 3, ring: 4},
		tcpSpinning: 6, tcp: 16, eth: 5, ethAsleep: 26,
	}
	slow := p
	slow.wake = 100
	slow.tcp = 1000
	m := medians([]paths{p, slow, p})
	ways := m.ways()
	for i, want := range []struct{ sum, measured, off float64 }{{5.25, 5, 0.05}, {26.25, 26, 0.0096}, {16, 16, 0}} {
		w := ways[i]
		if math.Abs(w.Sum-want.sum) > 1e-9 || w.Measured != want.measured || math.Abs(w.Off()-want.off) > 1e-3 {
			t.Errorf("%s: %+v, want %+v", w.Name, w, want)
		}
	}
	var svg strings.Builder
	if err := WriteSVG(&svg, Title, ways); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(svg.String()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(svg.String(), "<title>"); n != 6+8+5+3 {
		t.Errorf("%d things have a title", n)
	}
}
