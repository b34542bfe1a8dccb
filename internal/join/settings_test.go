package join

import (
	"testing"
	"time"
)

// The default liveness time grows where many ranks share a processor, and only there.
func TestDefaultLiveness(t *testing.T) {
	for _, c := range []struct {
		ranks int
		cpus  float64
		want  time.Duration
	}{
		{1, 64, 3 * time.Second},
		{16, 1, 3 * time.Second},
		{8, 0.5, 3 * time.Second},
		{64, 2, 6 * time.Second},
		{200, 2, 18750 * time.Millisecond},
	} {
		if got := defaultLiveness(c.ranks, c.cpus); got != c.want {
			t.Errorf("%d ranks on %v processors: %v, want %v", c.ranks, c.cpus, got, c.want)
		}
	}
}
