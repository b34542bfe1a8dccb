package weft

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/join"
	"weft/internal/waittest"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// routed makes hosts with a router between them, or skips the test.
func routed(t testing.TB, f netlab.Family, n int) *netlab.Lab {
	t.Helper()
	return netlabtest.New(t, func() (*netlab.Lab, error) { return f.MakeRouted(n, 1500) })
}

// joinOver returns a rank on each of the first n hosts, all in this process, that talk
// over a transport.
func joinOver(t testing.TB, transport Transport, l *netlab.Lab, n int) []*Proc {
	t.Helper()
	var procs []*Proc
	for rank, src := range bootstrap.NewLocal(n) {
		procs = append(procs, enter(t, &Config{
			Transport: transport, Interface: netlab.Interface, Bind: l.Hosts[rank].IP.String(), Liveness: time.Minute,
		}, src, enterOn(t, l, rank, 1)))
	}
	return procs
}

// A hostPair is two ranks on two hosts, and a port of each.
type hostPair struct {
	t     testing.TB
	procs []*Proc
	ports []*Port
	next  int // message
}

func pairUp(t testing.TB, transport Transport, l *netlab.Lab) *hostPair {
	p := &hostPair{t: t, procs: joinOver(t, transport, l, 2)}
	for _, proc := range p.procs {
		q, err := proc.OpenPort(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.ports = append(p.ports, q)
	}
	return p
}

// exchange has both ranks send each other messages of several packets, which are checked.
func (p *hostPair) exchange(messages int) {
	p.t.Helper()
	const size = 20000
	err := together(within(p.t), p.procs, func(ctx context.Context, me *Proc) error {
		q := p.ports[me.Rank()]
		peer := 1 - me.Rank()
		sent := make(chan error, 1)
		go func() {
			for i := range messages {
				if err := q.Send(ctx, peer, pattern(size, p.next+i)); err != nil {
					sent <- err
					return
				}
			}
			sent <- nil
		}()
		for i := range messages {
			m, err := q.Recv(ctx)
			if err != nil {
				return fmt.Errorf("message %d: %w", p.next+i, err)
			}
			if string(m.Data) != string(pattern(size, p.next+i)) {
				return fmt.Errorf("message %d is not what was sent", p.next+i)
			}
			m.Release()
		}
		return <-sent
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.next += messages
}

// until exchanges messages until a condition holds, of which only the exchange tells.
func (p *hostPair) until(what string, cond func() bool) {
	p.t.Helper()
	waittest.Until(p.t, what, func() bool {
		if cond() {
			return true
		}
		p.exchange(50)
		return false
	})
}

// peer returns how a rank sees the other one.
func (p *hostPair) peer(rank int) Peer { return p.procs[rank].Peers()[1-rank] }

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestRouter: UDP gets through a router, and is chosen by itself. When the router takes shorter packets only, these
// become shorter, and they become longer again when it takes longer ones.
func TestRouter(t *testing.T) {
	for _, c := range []struct {
		name    string
		family  netlab.Family
		headers int // bytes of each packet that are IP's and UDP's
	}{{"IPv4", netlab.IPv4, 28}, {"IPv6", netlab.IPv6, 48}} {
		t.Run(c.name, func(t *testing.T) {
			l := routed(t, c.family, 2)
			p := pairUp(t, "auto", l)
			p.exchange(200)
			both := func(mtu int) bool { return p.peer(0).MTU == mtu-c.headers && p.peer(1).MTU == mtu-c.headers }
			if p.peer(0).Transport != "udp" || !both(1500) {
				t.Errorf("%+v and %+v", p.peer(0), p.peer(1))
			}
			must(t, l.Narrow(0, 1280), l.Narrow(1, 1280))
			p.exchange(500)
			p.until("packets are as long as the router takes", func() bool { return both(1280) })
			must(t, l.Narrow(0, 0), l.Narrow(1, 0), l.Hosts[0].Forget(), l.Hosts[1].Forget())
			p.until("packets are long again", func() bool { return both(1500) })
		})
	}
}

// TestRouteMTU: so it is with a route of this host.
func TestRouteMTU(t *testing.T) {
	l := hosts(t, 2, 1500)
	p := pairUp(t, "udp", l)
	p.exchange(100)
	must(t, l.Hosts[0].SetRouteMTU(1280))
	p.until("packets are as long as the routes take",
		func() bool { return p.peer(0).MTU == 1252 && p.peer(1).MTU == 1472 })
	if a := p.peer(0); !strings.Contains(a.Path, "the route takes packets of 1252 bytes, not 1472") {
		t.Error(a.Path)
	}
	must(t, l.Hosts[0].SetRouteMTU(0))
	p.until("packets are long again", func() bool { return p.peer(0).MTU == 1472 })
}

// TestPathThatTellsNobody: long packets get lost, and no router says so.
func TestPathThatTellsNobody(t *testing.T) {
	for _, c := range []struct {
		name      string
		transport Transport
		family    netlab.Family
	}{{"udp", TransportUDP, netlab.IPv4}, {"udp, IPv6", TransportUDP, netlab.IPv6}, {"eth", TransportEth, netlab.IPv4}} {
		t.Run(c.name, func(t *testing.T) {
			l := netlabtest.New(t, func() (*netlab.Lab, error) { return c.family.Make(2, 1500) })
			p := pairUp(t, c.transport, l)
			p.exchange(100)
			end, err := l.Trouble(netlab.Trouble{Longest: 1400})
			must(t, err)
			p.exchange(100)
			p.until("the length of the path is found", func() bool {
				a := p.peer(0).MTU
				b := p.peer(1).MTU
				return a <= 1386 && a > 1330 && b <= 1386 && b > 1330
			})
			must(t, end())
			p.exchange(100)
		})
	}
}

// TestBatchesDropped: batches of packets get lost where single ones arrive. They are
// switched off, and that is told.
func TestBatchesDropped(t *testing.T) {
	for _, transport := range []Transport{TransportUDP, TransportEth} {
		t.Run(string(transport), func(t *testing.T) {
			l := hosts(t, 2, 1500)
			p := pairUp(t, transport, l)
			p.exchange(100) // both ways of eth have proved to work
			end, err := l.Trouble(netlab.Trouble{Batches: true})
			must(t, err)
			p.until("batches are switched off", func() bool {
				return strings.Contains(p.peer(0).Path, "singly: batches do not arrive where single packets do")
			})
			if n := p.procs[0].Stats().Switched; n == 0 {
				t.Error("that is not counted")
			}
			must(t, end())
			p.until("batches leave again", func() bool { return strings.Contains(p.peer(0).Path, "leave in batches") })
		})
	}
}

// TestTroubledBatches: batches that come twice, overtake each other and get lost do no harm, with
// the kernel's help to cut and join them and without.
func TestTroubledBatches(t *testing.T) {
	for _, transport := range []Transport{TransportUDP, TransportEth} {
		for _, offload := range []bool{true, false} {
			t.Run(fmt.Sprint(transport, ", offload ", offload), func(t *testing.T) {
				l := hosts(t, 2, 1500)
				for _, h := range l.Hosts {
					must(t, h.SetOffload(offload))
				}
				p := pairUp(t, transport, l)
				for _, trouble := range []netlab.Trouble{{}, {Repeat: 0.2}, {Overtake: 0.2},
					{Lose: 0.02, Repeat: 0.05, Overtake: 0.05}} {
					end, err := l.Trouble(trouble)
					must(t, err)
					p.exchange(150)
					must(t, end())
				}
			})
		}
	}
}

// TestSwitches: batches are switched off by hand.
func TestSwitches(t *testing.T) {
	t.Setenv(join.EnvSegment, "off")
	t.Setenv(join.EnvGRO, "off")
	p := pairUp(t, "udp", hosts(t, 2, 1500))
	p.exchange(50)
	if way := p.peer(0).Path; p.procs[0].Stats().Batches > 0 ||
		!strings.Contains(way, "leave singly: WEFT_UDP_SEGMENT=off; arrive singly: WEFT_UDP_GRO=off") {
		t.Errorf("%d batches: %s", p.procs[0].Stats().Batches, way)
	}
}
