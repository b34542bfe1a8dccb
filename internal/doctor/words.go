package doctor

import (
	"fmt"
	"time"

	"weft/internal/sys"
)

// yes returns how a truth is written.
func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// limit returns how a limit is written.
func limit(n uint64) string {
	if n == sys.Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(n)
}

// speed returns how the speed of an interface is written.
func speed(mbps int) string {
	switch {
	case mbps == 0:
		return "unknown"
	case mbps%1000 == 0:
		return fmt.Sprintf("%d Gbit/s", mbps/1000)
	default:
		return fmt.Sprintf("%d Mbit/s", mbps)
	}
}

// bytesText returns how a number of bytes is written.
func bytesText(n uint64) string {
	size := float64(n)
	unit := "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if size < 1024 {
			break
		}
		size /= 1024
		unit = next
	}
	return fmt.Sprintf("%.4g %s", size, unit)
}

// micros returns how a short time is written.
func micros(d time.Duration) string {
	if d.Abs() >= 10*time.Millisecond {
		return fmt.Sprintf("%.4g ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.3g µs", d.Seconds()*1e6)
}

// count returns a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
