// Package monotime holds the one notion of time that engines know: an instant
// handed to them as an argument. It deliberately has no Now: reading a clock
// is the driver's or the simulator's business.
package monotime

import "time"

// Time is an instant in nanoseconds since an arbitrary origin that is fixed
// for the life of a process (or of a simulation).
type Time int64

// Never is later than every other instant; a deadline of Never means none.
const Never = Time(1<<63 - 1)

// Add returns t+d, or Never if t is Never.
func (t Time) Add(d time.Duration) Time {
	if t == Never {
		return Never
	}
	return t + Time(d)
}

// Sub returns the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Before reports whether t is earlier than u.
func (t Time) Before(u Time) bool { return t < u }

// Min returns the earlier of t and u.
func (t Time) Min(u Time) Time { return min(t, u) }
