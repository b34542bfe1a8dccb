package perf

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"weft/internal/bootstrap"
)

// sockets is TCP, TLS 1.3 over TCP, a Unix socket, or package stream, as a Go program uses them.
type sockets struct{ network string }

func (s sockets) Name() string   { return s.network }
func (s sockets) Absent() string { return "" }

// Supports leaves out what sockets do not do by themselves. The pattern "pool" needs several goroutines that
// receive from one place, which a stream of bytes does not allow.
func (s sockets) Supports(spec Spec) bool {
	coordination := spec.Test == "barrier" || spec.Test == "lock" || spec.Test == "alltoall"
	return spec.Op == "send" && spec.Pattern != "pool" && !coordination
}

// Run starts the two ends with weft's launcher, for the same start and the same placing on hosts. They talk over
// sockets of their own.
func (s sockets) Run(ctx context.Context, spec Spec) ([]Sample, error) {
	return runRanks(ctx, s.network, 2, spec)
}

// socketRank is one end: rank 0 connects to rank 1.
func socketRank(network string, s Spec) error {
	ctx := context.Background()
	src, err := bootstrap.FromEnv()
	if err != nil {
		return err
	}
	defer src.Close()
	switch network {
	case "datagram", "icmp":
		return echoRank(ctx, src, network, s)
	case "ip", "frames":
		return bareRank(ctx, src, network, s)
	}
	conns := make([]net.Conn, max(s.Goroutines, 1))
	if src.Job().Rank == 1 {
		host := os.Getenv("WEFT_BIND") // in a lab
		if host == "" {
			host = "127.0.0.1"
		}
		address := net.JoinHostPort(host, "0")
		if network == "unix" || network == "stream" {
			address = fmt.Sprintf("@weft-perf-%d", os.Getpid())
		}
		l, err := listen(network, address, s)
		if err != nil {
			return err
		}
		defer l.Close()
		if err := src.Put(ctx, "socket", l.Addr().String()); err != nil {
			return err
		}
		for i := range conns {
			if conns[i], err = accept(l); err != nil {
				return err
			}
			defer conns[i].Close()
		}
	} else {
		address, err := src.Get(ctx, 1, "socket")
		if err != nil {
			return err
		}
		for i := range conns {
			if conns[i], err = dial(network, address, s); err != nil {
				return err
			}
			defer conns[i].Close()
		}
	}
	for _, size := range s.Sizes {
		if s.patterned() {
			err = socketCrowd(conns, src.Job().Rank, s, size)
		} else {
			err = socketMeasure(conns[0], src.Job().Rank, s, size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// socketMeasure measures one size over one connection: half round trips, after a tenth as many to warm
// up, or a stream. Rank 0 keeps the time.
func socketMeasure(c net.Conn, rank int, s Spec, size int) error {
	src := make([]byte, max(size, 1))
	dst := make([]byte, max(size, 1))
	send := func() error { _, err := c.Write(src); return err }
	recv := func() error { _, err := io.ReadFull(c, dst); return err }
	if s.Test != "latency" {
		return socketStream(c, rank, s, size, send, recv)
	}
	n := min(s.iterations(size), 10000)
	ns := make([]float64, n)
	start := time.Now()
	last := time.Since(start)
	for i := -n / 10; i < n; i++ {
		first := send
		second := recv
		if rank == 1 {
			first = recv
			second = send
		}
		if err := first(); err != nil {
			return err
		}
		if err := second(); err != nil {
			return err
		}
		now := time.Since(start)
		if i >= 0 {
			ns[i] = float64(now-last) / 2
		}
		last = now
	}
	if rank == 1 {
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(Sample{Size: size, NS: ns, Ops: n})
}

// socketStream sends n messages from rank 0 to rank 1, twice: the first time warms up. A byte that comes back ends
// the time, so the figure counts only what has been received.
func socketStream(c net.Conn, rank int, s Spec, size int, send, recv func() error) error {
	n := s.count(size)
	if s.Test == "rate" {
		n /= 10 // a write is a system call: the time would be long
	}
	one := make([]byte, 1)
	var took time.Duration
	for range 2 {
		start := time.Now()
		each := send
		if rank == 1 {
			each = recv
		}
		for range n {
			if err := each(); err != nil {
				return err
			}
		}
		if rank == 1 {
			if _, err := c.Write(one); err != nil {
				return err
			}
		} else if _, err := io.ReadFull(c, one); err != nil {
			return err
		}
		took = time.Since(start)
	}
	if rank == 1 {
		return nil
	}
	sec := took.Seconds()
	return emit(Sample{Size: size, MBs: float64(size) * float64(n) / sec / 1e6, Msgs: float64(n) / sec, Ops: n, Wall: sec})
}
