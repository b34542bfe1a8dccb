package link

import (
	"testing"
	"time"
)

// TestPauses: ends that get no processor for longer than a timeout, again and again, find that nothing was lost by
// that: a timeout costs two repeats, of the last packet and of the first, and each loss about one.
func TestPauses(t *testing.T) {
	const frames = 20000
	for _, lose := range []float64{0, 0.01} {
		r := newRig(t, 1, Config{Selective: true}, faults{lose: lose, pause: 4 * time.Millisecond, each: time.Microsecond})
		r.run(frames, 0)
		st := r.ends[0].conn.counts
		lost := lose * frames
		if st.Sent.Lost == 0 || float64(st.Sent.Resent) > float64(2*st.Sent.Lost)+1.3*lost {
			t.Errorf("%.0f packets were lost, %d were sent again: %s", lost, st.Sent.Resent, r)
		}
	}
}
