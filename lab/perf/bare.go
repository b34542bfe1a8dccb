package perf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"weft/internal/bootstrap"
)

// bare is what lies below TCP and UDP, without any protocol of ours: packets of IP, or frames of Ethernet, which a Go
// program sends back or counts, as in [Sumimoto00], table 2.
type bare struct{ network string }

func (b bare) Name() string   { return b.network }
func (b bare) Absent() string { return "" }

// Supports: both need the right to open raw sockets. Nothing holds a sender of IP back, so only frames, of which the
// paper has the bandwidth, are sent without answers.
func (b bare) Supports(s Spec) bool {
	frames := b.network == "frames"
	possible := os.Geteuid() == 0 && (!frames || framesPossible)
	return possible && s.Op == "send" && !s.patterned() && (s.Test == "latency" || frames && s.Test == "bandwidth")
}

func (b bare) Run(ctx context.Context, s Spec) ([]Sample, error) {
	return runRanks(ctx, b.network, 2, s)
}

// The first byte of a packet says what the answering end does with it.
const (
	bareEcho  = iota // sends it back
	bareCount        // counts it
	bareEnd          // answers with the count until then; the next byte is the number of the question
)

// A barePath carries packets to the other end, and back.
type barePath struct {
	dial    func(peer string) error
	send    func(b []byte) error
	receive func(b []byte) (int, error) // the packet, at the start of b
	wait    func(until time.Time) error // how long receive waits
	close   func()
	asked   byte // the number of the last question
}

// openBare returns a path, and the address that the other end dials.
func openBare(network, host string, asks bool) (p barePath, address string, err error) {
	if network == "frames" {
		return openFrames(host, asks)
	}
	// The numbers that RFC 3692 leaves to experiments. On the loopback interface each end hears its own packets, so
	// requests and answers differ.
	out := "ip4:253"
	in := "ip4:254"
	if !asks {
		in, out = out, in
	}
	self := &net.IPAddr{IP: net.ParseIP(host)}
	receiver, err := net.ListenIP(in, self)
	if err != nil {
		return p, "", err
	}
	var sender *net.IPConn
	return barePath{
		dial: func(peer string) (err error) {
			sender, err = net.DialIP(out, self, &net.IPAddr{IP: net.ParseIP(peer)})
			return err
		},
		send:    func(b []byte) error { _, err := sender.Write(b); return err },
		receive: func(b []byte) (int, error) { n, _, err := receiver.ReadFromIP(b); return n, err },
		wait:    receiver.SetReadDeadline,
		close: func() {
			receiver.Close()
			if sender != nil {
				sender.Close()
			}
		},
	}, host, nil
}

// bareRank is one end: rank 0 asks, rank 1 answers.
func bareRank(ctx context.Context, src bootstrap.Source, network string, s Spec) error {
	host := os.Getenv("WEFT_BIND") // in a lab
	if host == "" {
		host = "127.0.0.1"
	}
	rank := src.Job().Rank
	p, address, err := openBare(network, host, rank == 0)
	if err != nil {
		return err
	}
	defer p.close()
	if err := src.Put(ctx, "bare", address); err != nil {
		return err
	}
	peer, err := src.Get(ctx, 1-rank, "bare")
	if err != nil {
		return err
	}
	if err := p.dial(peer); err != nil {
		return err
	}
	if rank == 1 {
		go p.answer()
		_, err := src.Get(ctx, 0, "asked")
		return err
	}
	// Rank 1 has dialled as soon as it answers.
	for _, size := range s.Sizes {
		if size > mostEcho {
			return fmt.Errorf("%s: %d bytes: at most %d fit a packet", network, size, mostEcho)
		}
		ask := p.trips
		if s.Test == "bandwidth" {
			ask = p.stream
		}
		if err := ask(s, size); err != nil {
			return fmt.Errorf("%s, %d bytes: %w", network, size, err)
		}
	}
	return src.Put(ctx, "asked", "all")
}

// answer handles packets until the path is closed.
func (p *barePath) answer() {
	in := make([]byte, mostEcho)
	var count, total uint64
	for {
		n, err := p.receive(in)
		switch {
		case err != nil:
			return // closed
		case n < 2 || in[0] == bareEcho:
			_ = p.send(in[:n])
		case in[0] == bareCount:
			count++
		default:
			if in[1] != p.asked { // else the question comes again
				p.asked = in[1]
				total = count
				count = 0
			}
			_ = p.send(binary.BigEndian.AppendUint64(in[:2], total))
		}
	}
}

// trips measures round trips.
func (p *barePath) trips(s Spec, size int) error {
	if err := p.wait(time.Now().Add(echoWait)); err != nil {
		return err
	}
	b := make([]byte, size) // its first byte is bareEcho
	in := make([]byte, mostEcho)
	once := func() error {
		if err := p.send(b); err != nil {
			return err
		}
		n, err := p.receive(in)
		if err == nil && n < size {
			err = fmt.Errorf("an answer of %d bytes", n)
		}
		return err
	}
	n := min(s.iterations(size), 5000)
	if err := repeat(n/10, once); err != nil {
		return err
	}
	ns, err := timed(n, 1, once)
	if err != nil {
		return err
	}
	return emit(Sample{Size: size, NS: ns, Ops: 2 * n})
}

// stream sends packets that nobody answers, twice: the first time warms up. The figure counts what has been received;
// what finds no room is lost.
func (p *barePath) stream(s Spec, size int) error {
	n := s.count(size)
	b := make([]byte, max(size, 2))
	b[0] = bareCount
	var got uint64
	var took time.Duration
	for range 2 {
		start := time.Now()
		if err := repeat(n, func() error { return p.send(b) }); err != nil {
			return err
		}
		var err error
		if got, err = p.end(); err != nil {
			return err
		}
		took = time.Since(start)
	}
	sec := took.Seconds()
	rate := float64(got) / sec
	return emit(Sample{Size: size, MBs: float64(size) * rate / 1e6, Msgs: rate, Ops: n, Wall: sec})
}

// end asks how many packets have been counted, until an answer comes: the question may be lost, too.
func (p *barePath) end() (count uint64, err error) {
	p.asked++
	in := make([]byte, mostEcho)
	for range 1000 {
		if err := p.send([]byte{bareEnd, p.asked}); err != nil {
			return 0, err
		}
		if err := p.wait(time.Now().Add(echoWait / 1000)); err != nil {
			return 0, err
		}
		for err == nil {
			var n int
			if n, err = p.receive(in); err == nil && n >= 10 && in[0] == bareEnd && in[1] == p.asked {
				return binary.BigEndian.Uint64(in[2:]), nil
			}
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		err = nil
	}
	return 0, errors.New("the other end does not answer")
}
