package prometheus

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"weft/internal/control"
	"weft/internal/counters"
	"weft/stream"
)

// ofStream describes a metric of a listener, or of an address that a process has dialled.
func ofStream(name, help string) *prometheus.Desc {
	return describe("stream_"+name, help, "program", "pid", "network", "address", "end")
}

var (
	streamOpen    = ofStream("open_connections", "Connections that have not been closed.")
	streamMade    = ofStream("connections_total", "Connections that Accept or Dial has returned.")
	streamRefused = ofStream("refused_connections_total", "Connections that one side does not allow.")
	streamFailed  = ofStream("failed_connections_total", "Other attempts that came to nothing, such as handshakes.")
	streamRead    = ofStream("read_bytes_total", "Bytes that the process has read.")
	streamWritten = ofStream("written_bytes_total", "Bytes that the process has written.")
	streamFull    = ofStream("full_waits_total", "Waits for room in shared memory.")
	streamSleeps  = ofStream("sleeps_total", "Waits that slept until the peer woke the process, in shared memory.")
)

// collectStreams writes the metrics of the streams of this process, or of the processes of this host that listen. A
// process that does not answer has none.
func (c *Collector) collectStreams(out chan<- prometheus.Metric) {
	if c.scope == ThisProcess {
		writeStreams(out, os.Getpid(), stream.Snapshot(0))
		return
	}
	told, _ := control.Ask[stream.ProcessStats](control.Streams, 0)
	for _, a := range told {
		writeStreams(out, a.PID, a.Value)
	}
}

// writeStreams writes the metrics of one process. Those of several listeners at one address are added.
func writeStreams(out chan<- prometheus.Metric, pid int, p stream.ProcessStats) {
	sums := map[[3]string]*stream.Stats{}
	for _, s := range p.Streams {
		end := "listener"
		if s.Dialled {
			end = "dialler"
		}
		key := [3]string{counters.Printable(s.Network), counters.Printable(s.Address), end}
		sum := sums[key]
		if sum == nil {
			sum = new(stream.Stats)
			sums[key] = sum
		}
		sum.Open += s.Open
		sum.Made += s.Made
		sum.Refused += s.Refused
		sum.Failed += s.Failed
		sum.Read += s.Read
		sum.Written += s.Written
		sum.Full += s.Full
		sum.Sleeps += s.Sleeps
	}
	for key, s := range sums {
		w := writer{out, append([]string{counters.Printable(filepath.Base(p.Program)), strconv.Itoa(pid)}, key[:]...)}
		w.gauge(streamOpen, float64(s.Open))
		w.counter(streamMade, float64(s.Made))
		w.counter(streamRefused, float64(s.Refused))
		w.counter(streamFailed, float64(s.Failed))
		w.counter(streamRead, float64(s.Read))
		w.counter(streamWritten, float64(s.Written))
		w.counter(streamFull, float64(s.Full))
		w.counter(streamSleeps, float64(s.Sleeps))
	}
}
