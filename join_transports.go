package weft

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"slices"

	"weft/internal/doorbell"
	"weft/internal/driver"
	"weft/internal/transport"
	"weft/internal/transport/eth"
	"weft/internal/transport/shm"
	"weft/internal/transport/tcp"
	"weft/internal/transport/udp"
)

// join opens the transports, and publishes how this process is reached (its card).
func (p *Proc) join(ctx context.Context) error {
	p.newNode(random, driver.Config{
		Route: p.findRoute, Least: p.cfg.leastGuard, Wait: p.cfg.waiting(p.job),
	})
	p.segment = segment(p.bind())
	card := card{Host: p.job.Host, Life: p.life, Guard: p.cfg.Guard, Segment: p.segment}
	var bell transport.Doorbell
	if p.cfg.Transport != TransportUDP && p.cfg.Transport != TransportTCP &&
		(p.job.Local > 1 || p.cfg.Transport == TransportShm || p.job.Size == 1) {
		t, err := p.openShm()
		switch {
		case err == nil:
			bell = t.Doorbell()
			card.Shm = t.Card()
			p.trs = append(p.trs, t)
			p.memory.Memory = t.Memory()
		case p.cfg.Transport == TransportShm:
			return err
		default:
			card.NoShm = err.Error()
		}
	}
	if bell == nil {
		b, err := doorbell.NewPoll()
		if err != nil {
			return err
		}
		bell = b
		p.poll = b
	}
	if p.wantsEth() {
		t, err := p.openEth(bell)
		switch {
		case err == nil:
			card.Eth = t.Card()
			p.eth = t
			p.whyEth = fmt.Sprintf("another host, and raw Ethernet on %s (%s)", p.cfg.Interface, t.Device())
			p.trs = append(p.trs, p.spoilt(t, bell))
		case p.cfg.Transport == TransportEth:
			p.closeTransports()
			return err
		default:
			p.noEth = err.Error()
		}
	}
	if p.cfg.Transport == TransportTCP {
		t, err := p.openTCP(bell)
		if err != nil {
			return err
		}
		card.Tcp = t.Card()
		p.trs = append(p.trs, t)
	} else if p.cfg.Transport != TransportEth && (p.cfg.Transport == TransportUDP || p.job.Size > p.job.Local ||
		(card.Shm == "" && p.job.Size > 1)) {
		t, err := p.openUDP(bell)
		if err != nil {
			return err
		}
		card.Udp = t.Card()
		p.trs = append(p.trs, p.spoilt(t, bell))
	}
	p.node.Start(bell, p.trs...)
	if err := p.src.Put(ctx, "card", card.String()); err != nil {
		p.Close()
		return err
	}
	p.src.Watch(p.rankEnded)
	p.src.Answer(p.state)
	return nil
}

// wantsEth reports whether packets to other hosts are to travel over raw Ethernet.
func (p *Proc) wantsEth() bool {
	return p.cfg.Transport == TransportEth ||
		p.cfg.Transport == TransportAuto && p.cfg.Interface != "" && p.job.Size > p.job.Local
}

func (p *Proc) openShm() (*shm.Transport, error) {
	var t *shm.Transport
	opened := make(chan struct{}) // a peer may dial before Open has returned
	ev := p.node.Events(func() transport.Transport { <-opened; return t })
	t, err := shm.Open(shm.Config{
		Rank: p.job.Rank, Size: p.job.Size, Job: p.job.ID, Secret: p.job.Secret,
		Liveness: max(p.cfg.Liveness, 0), Events: ev, Own: p.amt.Own(),
	})
	close(opened)
	return t, err
}

func (p *Proc) openUDP(bell transport.Doorbell) (*udp.Transport, error) {
	return udp.Open(udp.Config{
		Bind: p.bind(), MTU: p.cfg.MTU, Bell: bell,
		NoSegment: switchedOff(envSegment), NoGRO: switchedOff(envGRO),
	})
}

func (p *Proc) openEth(bell transport.Doorbell) (*eth.Transport, error) {
	if p.cfg.Interface == "" {
		return nil, fmt.Errorf("weft: transport eth needs an interface: set Config.Interface or %s", envInterface)
	}
	return eth.Open(eth.Config{
		Interface: p.cfg.Interface, EtherType: p.cfg.EtherType, MTU: p.cfg.MTU, Job: p.job.ID, Rank: p.job.Rank, Bell: bell,
		FramesOnly: p.cfg.GoBackN, NoSegment: switchedOff(envSegment), NoGRO: switchedOff(envGRO),
	})
}

// switchedOff reports whether a variable of the environment is "off".
func switchedOff(name string) bool { return os.Getenv(name) == "off" }

func (p *Proc) openTCP(bell transport.Doorbell) (*tcp.Transport, error) {
	var t *tcp.Transport
	opened := make(chan struct{}) // a peer may dial before Open has returned
	ev := p.node.Events(func() transport.Transport { <-opened; return t })
	t, err := tcp.Open(tcp.Config{
		Bind: p.bind(), Rank: p.job.Rank, Size: p.job.Size, Job: p.job.ID, Secret: p.job.Secret,
		Liveness: max(p.cfg.Liveness, 0), Bell: bell, Events: ev, Encrypt: p.encrypts,
	})
	close(opened)
	return t, err
}

// spoilt returns a transport with the faults that WEFT_FAULTS asks for, or t itself.
func (p *Proc) spoilt(t transport.Transport, bell transport.Doorbell) transport.Transport {
	if p.cfg.faults == nil {
		return t
	}
	return p.cfg.faults(t, bell.Ring)
}

// closeTransports closes the transports. The one in whose memory the doorbell lies is closed
// last, because the others may ring it until they are closed.
func (p *Proc) closeTransports() {
	for _, t := range slices.Backward(p.trs) {
		t.Close()
	}
	if p.poll != nil {
		p.poll.Close()
	}
}

// bind returns the address for UDP and TCP, as "host:port"; port 0 means any.
func (p *Proc) bind() string {
	host := p.cfg.Bind
	port := "0"
	if h, q, err := net.SplitHostPort(p.cfg.Bind); err == nil {
		host = h
		port = q
	}
	return net.JoinHostPort(cmp.Or(host, p.job.Bind, "127.0.0.1"), port)
}
