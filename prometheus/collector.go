package prometheus

import (
	"os"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"weft/internal/counters"
	"weft/internal/counters/directory"
)

// Scope selects the ranks whose counters a Collector exports.
type Scope int

// The scopes.
const (
	ThisHost    Scope = iota // all ranks, and servers of streams, of this user on this host; for root of all users
	ThisProcess              // the ranks and the streams of this process, dialled ones included
)

// A Collector exports the counters of ranks, and of streams on one host and between hosts, to Prometheus. It implements
// prometheus.Collector. Any goroutine may use it, and it need not be closed.
type Collector struct{ scope Scope }

// NewCollector returns a Collector, for prometheus.Register.
func NewCollector(s Scope) *Collector { return &Collector{s} }

// Describe sends the descriptions of all metrics.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range all {
		out <- d
	}
}

// Collect reads the counter pages of the ranks, and asks the servers of streams. Pages that cannot be read are counted
// in weft_unreadable_pages.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	unreadable := 0
	for _, dir := range directory.Jobs() {
		ranks, err := directory.Read(dir)
		if err != nil {
			unreadable++
		}
		for _, r := range ranks {
			if c.scope == ThisHost || r.PID == os.Getpid() {
				collect(out, r)
			}
		}
	}
	out <- prometheus.MustNewConstMetric(unreadablePages, prometheus.GaugeValue, float64(unreadable))
	c.collectStreams(out)
}

// all are the descriptions of the metrics.
var all []*prometheus.Desc

func describe(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc("weft_"+name, help, labels, nil)
	all = append(all, d)
	return d
}

// ofRank and ofPeer describe a metric of a rank, and a metric of a rank and one of its peers.
func ofRank(name, help string, labels ...string) *prometheus.Desc {
	return describe(name, help, append([]string{"job", "rank"}, labels...)...)
}

func ofPeer(name, help string) *prometheus.Desc { return ofRank(name, help, "peer", "transport") }

var (
	unreadablePages = describe("unreadable_jobs", "Jobs of which not all pages of counters could be read.")

	info      = ofRank("rank_info", "A rank of a job, always 1.", "host", "program", "pid")
	up        = ofRank("rank_up", "Whether the process of the rank has not ended; it may be stopped.")
	started   = ofRank("rank_start_time_seconds", "When the rank joined its job, in seconds since the epoch.")
	memory    = ofRank("memory_bytes", "Memory that the rank holds for communication.")
	mapped    = ofRank("mapped_memory_bytes", "Memory of other ranks on the host that the rank has mapped.")
	parked    = ofRank("sleeping_goroutines", "Goroutines that sleep until something has come.")
	dropped   = ofRank("dropped_packets_total", "Packets that were not accepted.", "reason")
	errors    = ofRank("errors_total", "Errors that the rank has met.", "error", "peer")
	lastError = ofRank("last_error_timestamp_seconds", "When an error was met last, in seconds since the epoch.",
		"error", "peer")

	waits    = ofRank("waits_total", "Operations that had to wait.", "operation")
	sleeps   = ofRank("sleeps_total", "Operations that had to wait so long that they slept.", "operation")
	polling  = ofRank("polling_seconds_total", "Time that goroutines have spent looking for packets.", "operation")
	sleeping = ofRank("sleeping_seconds_total", "Time that goroutines have slept until something had come.", "operation")

	transportMemory = ofRank("transport_memory_bytes", "Memory that a transport holds.", "transport")
	batches         = ofRank("batches_total", "System calls that sent several packets as one, for the kernel to cut.",
		"transport")
	uncut  = ofRank("uncut_batches_total", "Batches that the kernel refused to cut.", "transport")
	joined = ofRank("joined_datagrams_total", "Datagrams that the kernel had joined of several packets.",
		"transport")
	lostHere = ofRank("lost_datagrams_total", "Datagrams that came to this host and were lost there.",
		"transport", "reason")
	unsent   = ofRank("unsent_packets_total", "Packets that the kernel would not send.", "transport")
	switched = ofRank("batch_switches_total", "Times that batches to a peer were switched off.", "transport")

	window    = ofPeer("window_packets", "Packets that may be on their way to the peer.")
	flying    = ofPeer("flying_packets", "Packets on their way to the peer.")
	mtu       = ofPeer("packet_limit_bytes", "The longest packet to the peer.")
	rtt       = ofPeer("smoothed_round_trip_seconds", "The smoothed round trip to the peer.")
	trips     = ofPeer("round_trip_seconds", "Round trips to the peer.")
	shortened = ofPeer("path_shortenings_total",
		"Times that packets to the peer were cut shorter, as the path lost long ones.")
	sentDirect = ofPeer("sent_direct_bytes_total",
		"Bytes that went to the peer, and not in packets: long messages, and long access to mapped memory.")
	gotDirect = ofPeer("received_direct_bytes_total",
		"Bytes that came from the peer, and not in packets: long messages, and long access to mapped memory.")
	connected = ofPeer("peer_connected", "Whether the peer is connected, and has not gone.")

	sent = ofFlow("sent", "sent to", "sent to the peer again",
		"Timeouts: nothing that was sent to the peer was acknowledged in time.", "the peer refused for lack of room",
		"the peer said that this rank may go on")
	received = ofFlow("received", "received from", "received from the peer again",
		"Times that packets of the peer were found to be missing.", "were refused for lack of room",
		"the peer was told that it may go on")
)

// A flow is the metrics of one direction.
type flow struct{ messages, accesses, packets, bytes, again, lost, refused, resumed *prometheus.Desc }

func ofFlow(prefix, done, again, lost, refused, resumed string) flow {
	return flow{
		messages: ofPeer(prefix+"_messages_total", "Messages of ports "+done+" the peer."),
		accesses: ofPeer(prefix+"_accesses_total", "Requests about memory and mailboxes "+done+" the peer in packets."),
		packets:  ofPeer(prefix+"_packets_total", "Packets "+done+" the peer."),
		bytes:    ofPeer(prefix+"_bytes_total", "Bytes of packets "+done+" the peer."),
		again:    ofPeer(prefix+"_again_packets_total", "Packets "+again+"."),
		lost:     ofPeer(prefix+"_losses_total", lost),
		refused:  ofPeer(prefix+"_refusals_total", "Messages, and streams of packets, that "+refused+"."),
		resumed:  ofPeer(prefix+"_resumptions_total", "Times that "+resumed+"."),
	}
}

// A writer writes metrics of one rank.
type writer struct {
	out    chan<- prometheus.Metric
	labels []string
}

func (w writer) counter(d *prometheus.Desc, v float64, labels ...string) {
	w.write(d, prometheus.CounterValue, v, labels)
}

func (w writer) gauge(d *prometheus.Desc, v float64, labels ...string) {
	w.write(d, prometheus.GaugeValue, v, labels)
}

func (w writer) write(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels []string) {
	w.out <- prometheus.MustNewConstMetric(d, kind, v, append(w.labels[:len(w.labels):len(w.labels)], labels...)...)
}

// collect writes the metrics of the page of a rank.
func collect(out chan<- prometheus.Metric, r directory.Rank) {
	w := writer{out, []string{r.Job, strconv.Itoa(r.Rank)}}
	w.gauge(info, 1, r.Host, r.Program, strconv.Itoa(r.PID))
	w.gauge(up, truth(r.Alive))
	w.gauge(started, seconds(r.Started))
	w.gauge(memory, float64(r.Memory))
	w.gauge(mapped, float64(r.Mapped))
	w.gauge(parked, float64(r.Parked))
	for reason, n := range map[string]uint64{
		"malformed": r.Dropped.Malformed, "foreign": r.Dropped.Foreign, "forged": r.Dropped.Forged,
		"replayed": r.Dropped.Replayed, "stale": r.Dropped.Stale,
	} {
		w.counter(dropped, float64(n), reason)
	}
	for _, op := range r.Waits {
		w.counter(waits, float64(op.Count), op.Operation)
		w.counter(sleeps, float64(op.Slept), op.Operation)
		w.counter(polling, float64(op.Polled)/1e9, op.Operation)
		w.counter(sleeping, float64(op.Asleep)/1e9, op.Operation)
	}
	once := map[string]bool{} // an inconsistent page must not invalidate the metrics of others
	for _, t := range r.Transports {
		if !once[t.Name] {
			once[t.Name] = true
			w.transport(&t)
		}
	}
	for _, e := range r.Errors {
		if peer := strconv.Itoa(e.Peer); !once[e.Text+"\n"+peer] {
			once[e.Text+"\n"+peer] = true
			w.counter(errors, float64(e.Count), e.Text, peer)
			w.gauge(lastError, seconds(e.Last), e.Text, peer)
		}
	}
	for i := range r.Peers {
		w.peer(&r.Peers[i])
	}
}

func (w writer) transport(t *counters.TransportCounts) {
	w.gauge(transportMemory, float64(t.Memory), t.Name)
	w.counter(batches, float64(t.Batches), t.Name)
	w.counter(uncut, float64(t.Uncut), t.Name)
	w.counter(joined, float64(t.Joined), t.Name)
	w.counter(lostHere, float64(t.Overflows), t.Name, "overflow")
	w.counter(lostHere, float64(t.Truncated), t.Name, "truncated")
	w.counter(unsent, float64(t.Unsent), t.Name)
	w.counter(switched, float64(t.Switched), t.Name)
}

func (w writer) peer(p *counters.PeerCounts) {
	labels := []string{strconv.Itoa(p.Rank), p.Transport}
	w.gauge(connected, truth(p.State == counters.Connected.String()), labels...)
	w.flow(&sent, &p.Sent, labels)
	w.flow(&received, &p.Received, labels)
	w.counter(sentDirect, float64(p.SentDirect), labels...)
	w.counter(gotDirect, float64(p.GotDirect), labels...)
	if p.Window == 0 {
		return // the path has no link
	}
	w.gauge(window, float64(p.Window), labels...)
	w.gauge(flying, float64(p.Flying), labels...)
	w.gauge(mtu, float64(p.MTU), labels...)
	w.counter(shortened, float64(p.Shortened), labels...)
	if p.RTT > 0 {
		w.gauge(rtt, p.RTT.Seconds(), labels...)
	}
	w.trips(p, labels)
}

func (w writer) flow(d *flow, f *counters.Flow, labels []string) {
	w.counter(d.messages, float64(f.Messages), labels...)
	w.counter(d.accesses, float64(f.Accesses), labels...)
	w.counter(d.packets, float64(f.Packets), labels...)
	w.counter(d.bytes, float64(f.Bytes), labels...)
	w.counter(d.again, float64(f.Resent), labels...)
	w.counter(d.lost, float64(f.Lost), labels...)
	w.counter(d.refused, float64(f.Refused), labels...)
	w.counter(d.resumed, float64(f.Resumed), labels...)
}

// trips writes the histogram of round trips. All histograms have the same buckets, so that they can be added.
func (w writer) trips(p *counters.PeerCounts, labels []string) {
	count := uint64(0)
	buckets := map[float64]uint64{}
	rest := p.RoundTrips
	for class := 0; counters.Below(class) > 0; class++ {
		below := time.Duration(counters.Below(class))
		for len(rest) > 0 && rest[0].Below > 0 && rest[0].Below <= below {
			count += rest[0].Count
			rest = rest[1:]
		}
		buckets[below.Seconds()] = count
	}
	for _, c := range rest {
		count += c.Count
	}
	all := append(w.labels[:len(w.labels):len(w.labels)], labels...)
	w.out <- prometheus.MustNewConstHistogram(trips, count, p.RTTTotal.Seconds(), buckets, all...)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
