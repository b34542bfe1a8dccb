package perf

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"time"

	"weft/internal/bootstrap"
)

// echo is the kernel's own path for single packets, as in [Sumimoto00], table 2: a datagram of UDP that a Go program
// sends back, or an echo request of ICMP that the other kernel answers.
type echo struct{ network string }

func (e echo) Name() string   { return e.network }
func (e echo) Absent() string { return "" }

// Supports: requests of ICMP need the right to open a raw socket.
func (e echo) Supports(s Spec) bool {
	return s.Test == "latency" && s.Op == "send" && !s.patterned() && (e.network == "datagram" || os.Geteuid() == 0)
}

func (e echo) Run(ctx context.Context, s Spec) ([]Sample, error) {
	return runRanks(ctx, e.network, 2, s)
}

// mostEcho is the longest message of an echo: a frame of Ethernet less the headers of IP, and of UDP or ICMP.
const mostEcho = 1472

// echoRank is one end: rank 0 asks, and rank 1 or its kernel answers.
func echoRank(ctx context.Context, src bootstrap.Source, network string, s Spec) error {
	host := os.Getenv("WEFT_BIND") // in a lab
	if host == "" {
		host = "127.0.0.1"
	}
	if src.Job().Rank == 1 {
		return echoAnswer(ctx, src, network, host)
	}
	address, err := src.Get(ctx, 1, "echo")
	if err != nil {
		return err
	}
	once, wait, err := echoAsker(network, host, address)
	if err != nil {
		return err
	}
	for _, size := range s.Sizes {
		if size > mostEcho {
			return fmt.Errorf("%s: %d bytes: at most %d fit a packet", network, size, mostEcho)
		}
		n := min(s.iterations(size), 5000)
		if err := wait(time.Now().Add(echoWait)); err != nil {
			return err
		}
		b := make([]byte, size)
		if err := repeat(n/10, func() error { return once(b) }); err != nil {
			return err
		}
		ns, err := timed(n, 1, func() error { return once(b) })
		if err != nil {
			return err
		}
		if err := emit(Sample{Size: size, NS: ns, Ops: 2 * n}); err != nil {
			return err
		}
	}
	return src.Put(ctx, "echoed", "all")
}

// echoAnswer answers datagrams until rank 0 has all it wants.
func echoAnswer(ctx context.Context, src bootstrap.Source, network, host string) error {
	if network == "datagram" {
		c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(host)})
		if err != nil {
			return err
		}
		defer c.Close()
		host = c.LocalAddr().String()
		go func() {
			b := make([]byte, mostEcho)
			for {
				n, from, err := c.ReadFromUDPAddrPort(b)
				if err != nil {
					return // closed
				}
				_, _ = c.WriteToUDPAddrPort(b[:n], from)
			}
		}()
	}
	if err := src.Put(ctx, "echo", host); err != nil {
		return err
	}
	_, err := src.Get(ctx, 0, "echoed")
	return err
}

// echoWait is how long the messages of one size may take before the measurement fails: one of them was lost.
const echoWait = time.Minute

// echoAsker returns a function that sends a message and waits for its answer, and one that says until when.
func echoAsker(network, host, address string) (once func(b []byte) error, wait func(time.Time) error, err error) {
	in := make([]byte, mostEcho+8)
	if network == "datagram" {
		c, err := net.Dial("udp", address)
		if err != nil {
			return nil, nil, err
		}
		return func(b []byte) error {
			if _, err := c.Write(b); err != nil {
				return err
			}
			n, err := c.Read(in)
			if err == nil && n != len(b) {
				err = fmt.Errorf("an answer of %d bytes", n)
			}
			return err
		}, c.SetReadDeadline, nil
	}
	c, err := net.DialIP("ip4:icmp", &net.IPAddr{IP: net.ParseIP(host)}, &net.IPAddr{IP: net.ParseIP(address)})
	if err != nil {
		return nil, nil, err
	}
	number := uint16(0)
	return func(b []byte) error {
		number++
		if _, err := c.Write(echoRequest(uint16(os.Getpid()), number, b)); err != nil {
			return err
		}
		for {
			n, _, err := c.ReadFromIP(in)
			if err != nil {
				return err
			}
			if n == 8+len(b) && isReply(in, uint16(os.Getpid()), number) {
				return nil
			}
		}
	}, c.SetReadDeadline, nil
}

// echoRequest returns an echo request of ICMP (RFC 792).
func echoRequest(id, number uint16, payload []byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{8, 0, 0, 0}, id)
	b = append(binary.BigEndian.AppendUint16(b, number), payload...)
	binary.BigEndian.PutUint16(b[2:], internetChecksum(b))
	return b
}

// isReply reports whether a packet is the answer to a request.
func isReply(b []byte, id, number uint16) bool {
	return b[0] == 0 && binary.BigEndian.Uint16(b[4:]) == id && binary.BigEndian.Uint16(b[6:]) == number
}

// internetChecksum is that of IP, UDP and ICMP.
func internetChecksum(b []byte) uint16 {
	sum := uint32(0)
	for ; len(b) > 1; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
