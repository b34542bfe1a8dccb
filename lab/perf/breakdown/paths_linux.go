package breakdown

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"weft"
	"weft/internal/doorbell"
	"weft/internal/engine/link"
	"weft/internal/engine/wire"
	"weft/internal/launch"
	"weft/internal/monotime"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/eth"
	"weft/lab/netlab"
)

// each returns how long one of n calls takes, in us.
func each(n int, f func()) float64 {
	start := time.Now()
	for range n {
		f()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(n) / 1000
}

// systemCall is the time of a system call that does nothing.
func systemCall() float64 { return each(100000, func() { syscall.Getppid() }) }

// pair runs two functions on threads of their own until the first has returned, and returns its error. The second
// must return then by itself.
func pair(first, second func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		done <- second()
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := first()
	if other := <-done; err == nil {
		err = other
	}
	return err
}

// cacheLine is the time from a write of a word on one processor until another processor, which polls the word, sees
// it.
func cacheLine() (us float64, err error) {
	const n = 100000
	var word atomic.Int64
	turn := func(mine int64) error {
		for i := range int64(n) {
			for word.Load() != 2*i+mine {
				sys.Pause()
			}
			word.Add(1)
		}
		return nil
	}
	err = pair(func() error {
		us = each(1, func() { _ = turn(0) }) / (2 * n)
		return nil
	}, func() error { return turn(1) })
	return us, err
}

// wakeUp is the time until a goroutine that sleeps like those of a node runs, from the moment at which another
// wakes it.
func wakeUp() (us float64, err error) {
	const n = 3000
	var bells [2]*doorbell.Poll
	for i := range bells {
		if bells[i], err = doorbell.NewPoll(); err != nil {
			return 0, err
		}
		defer bells[i].Close()
	}
	var rung [2]atomic.Int64
	ring := func(side int) {
		rung[side].Add(1)
		bells[side].Ring()
	}
	wait := func(side int, times int64) {
		for rung[side].Load() < times {
			bells[side].Set(transport.Asleep)
			if rung[side].Load() < times {
				bells[side].Sleep(transport.Asleep, -1)
			}
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range int64(n) {
			wait(1, i+1)
			ring(0)
		}
	}()
	i := int64(0)
	us = each(n, func() {
		i++
		ring(1)
		wait(0, i)
	}) / 2
	<-done
	return us, nil
}

// open opens a raw Ethernet transport on a host.
func open(h launch.Host, rank int) (t *eth.Transport, err error) {
	err = sys.InNetwork(h.Namespace, func() error {
		t, err = eth.Open(eth.Config{Interface: h.Interface, Job: 1, Rank: rank, Bell: doorbell.NewChan()})
		return err
	})
	return t, err
}

// frames measures sending frames that carry a message.
func frames(here, there launch.Host) (f frame, err error) {
	const n = 30000
	src, err := open(here, 0)
	if err != nil {
		return f, err
	}
	defer src.Close()
	dst, err := open(there, 1)
	if err != nil {
		return f, err
	}
	card := dst.Card()
	if err := src.Dial(1, card); err != nil {
		dst.Close()
		return f, err
	}
	out := []transport.Out{{Peer: 1, Header: make([]byte, wire.LinkSize+wire.DataSize), Payload: make([]byte, size)}}
	send := func() { src.Send(out) }
	var stop atomic.Bool
	err = pair(func() error {
		f.ring = each(n, send)
		stop.Store(true)
		return nil
	}, func() error {
		var in [64]transport.In
		for !stop.Load() {
			if dst.Poll(in[:]) > 0 {
				dst.Release()
			}
		}
		return nil
	})
	dst.Close()
	if err != nil {
		return f, err
	}
	f.wire = each(n, send)
	host := netlab.Host{Namespace: there.Namespace}
	if err := host.SetUp(false); err != nil {
		return f, err
	}
	f.socket = each(n, send)
	return f, host.SetUp(true)
}

// protocol is the time of weft's own code at both ends: that of a message to the rank itself, which passes
// everything but the link and a transport, and that of the link.
func protocol(ctx context.Context) (us float64, err error) {
	p, err := weft.Join(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return 0, err
	}
	b := make([]byte, size)
	self := each(50000, func() {
		if err == nil {
			err = q.Send(ctx, 0, b)
		}
		if err == nil {
			_, _, err = q.RecvInto(ctx, b)
		}
	})
	return self + linkCode(), err
}

// linkCode is half the time that two links take for a packet in each direction.
func linkCode() float64 {
	var conns [2]*link.Conn
	for i := range conns {
		self := link.NewSelf(1, uint32(i), 1, make([]byte, 32))
		conns[i] = link.NewConn(&link.Config{Selective: true, Liveness: -1}, self, uint32(1-i), 1)
		conns[i].Guard(link.Checked)
	}
	head := (&wire.Data{Total: size}).Append(nil)
	payload := make([]byte, size)
	var out [4]link.Packet
	var now monotime.Time
	pkt := make([]byte, 0, 4096)
	return each(100000, func() {
		for i, c := range conns {
			now++
			c.Queue(now, head, payload)
			c.Output(now, out[:])
			pkt = append(append(pkt[:0], out[0].Header...), out[0].Payload...)
			_, _ = conns[1-i].Recv(now, pkt, link.Checked, true)
		}
	}) / 2
}

// spinningTCP is the time of a message one way over TCP when both ends poll.
func spinningTCP(here, there launch.Host) (us float64, err error) {
	const n = 5000
	a, b, err := dialled(here, there)
	if err != nil {
		return 0, err
	}
	defer a.Finish(nil)
	defer b.Finish(nil)
	buf := [2][]byte{make([]byte, size), make([]byte, size)}
	send := func(s *sys.Stream, b []byte) error {
		_, err := s.Write(b)
		return err
	}
	recv := func(s *sys.Stream, b []byte) error {
		for got := 0; got < len(b); {
			k, err := s.Read(b[got:])
			if err != nil {
				return err
			}
			got += k
		}
		return nil
	}
	times := make([]float64, n)
	err = pair(func() error {
		for i := range times {
			start := time.Now()
			if err := send(a, buf[0]); err != nil {
				return err
			}
			if err := recv(a, buf[0]); err != nil {
				return err
			}
			times[i] = float64(time.Since(start).Nanoseconds()) / 2000
		}
		return nil
	}, func() error {
		for range n {
			if err := recv(b, buf[1]); err != nil {
				return err
			}
			if err := send(b, buf[1]); err != nil {
				return err
			}
		}
		return nil
	})
	slices.Sort(times)
	return times[n/2], err
}

// dialled returns both ends of a TCP connection between two hosts.
func dialled(here, there launch.Host) (a, b *sys.Stream, err error) {
	var l net.Listener
	err = sys.InNetwork(there.Namespace, func() (err error) {
		l, err = net.Listen("tcp", net.JoinHostPort(there.Address, "0"))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	var c net.Conn
	err = sys.InNetwork(here.Namespace, func() (err error) {
		c, err = net.DialTimeout("tcp", l.Addr().String(), 5*time.Second)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	d, err := l.Accept()
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	defer d.Close()
	if a, err = sys.NewStream(c.(*net.TCPConn)); err == nil {
		b, err = sys.NewStream(d.(*net.TCPConn))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("weftlab perf: %w", err)
	}
	return a, b, nil
}
