package weft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"weft/internal/bootstrap"
	"weft/internal/bootstrap/environment"
	"weft/internal/doorbell"
	"weft/internal/driver"
	"weft/internal/launch"
	"weft/internal/transport"
	"weft/internal/transport/eth"
	"weft/internal/transport/shm"
	"weft/internal/transport/tcp"
	"weft/internal/transport/udp"
)

// Main is the main function of a program that is one rank: it joins the job
// of which it was started (see Join), or is a job of one, runs run, waits until all ranks
// have come this far, and leaves. It ends the process: with status 0, or 1 and
// a message if run returned an error. Messages that were sent and that nobody has accepted
// by then are told on standard error. The context ends on SIGINT and SIGTERM. Where others than weft run
// have started the job, rank 0 says on SIGQUIT what all ranks wait for, as weft ps does, before it ends with its stacks.
//
// A rank whose run has returned nil has left, for the others, as soon as they have
// accepted what it sent: calls that need it end with a PeerError that is Clean, barriers
// with a BrokenError. Its regions can be used until all have returned.
func Main(run func(ctx context.Context, p *Proc) error) {
	if text := os.Getenv(envSim); text != "" {
		os.Exit(simulated(text, run))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := Join(ctx, nil)
	if err == nil {
		p.explainOnQuit()
		err = run(ctx, p)
		if err == nil {
			p.hasReturned()
			p.node.Drain(closePatience) // what is on its way arrives before its receivers leave
			// Others may still use our regions: leave together.
			err = p.src.Fence(ctx)
			if errors.Is(err, bootstrap.ErrLauncher) {
				err = nil
			}
		}
		if err == nil {
			err = p.end()
		} else {
			p.src.Fail("it failed: " + firstLine(err))
			_ = p.Close()
		}
	}
	if err != nil {
		who := "weft"
		if p != nil {
			who = fmt.Sprintf("weft: rank %d", p.Rank())
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", who, strings.TrimPrefix(err.Error(), "weft: "))
		stop()
		os.Exit(1)
	}
}

// firstLine returns what an error says first, for others to read.
func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "weft: "), "\n")
	const most = 200
	return line[:min(len(line), most)]
}

// end is the Close of a rank whose function has returned nil. What nobody has accepted is
// told on standard error: the program is to know, and has not failed.
func (p *Proc) end() error {
	err := p.Close()
	var lost *UndeliveredError
	if errors.As(err, &lost) {
		fmt.Fprintf(os.Stderr, "weft: rank %d: %s\n", p.Rank(), strings.TrimPrefix(lost.Error(), "weft: "))
		return nil
	}
	return err
}

// Join joins the job of which this process was started, or makes a job of one. The
// environment tells: weft run, MPICH's mpiexec and srun (PMI), srun without PMI, torchrun,
// Kubernetes, etcd, or variables that the user sets (docs/LAUNCHERS.md has the order, and
// weft info says what counts and what is missing). Join waits until all ranks have joined,
// or ctx ends; after ten seconds it says on standard error what it waits for. A process joins
// once. Close leaves.
func Join(ctx context.Context, cfg *Config) (*Proc, error) {
	if os.Getenv(envSim) != "" {
		return nil, errJoinSim
	}
	src, err := environment.Join(ctx, func(text string) { fmt.Fprintln(os.Stderr, "weft: "+text) })
	if err != nil {
		return nil, err
	}
	p, err := newProc(cfg, src)
	if err == nil {
		p.again, err = restarted()
	}
	if err == nil {
		err = p.startRecording()
	}
	if err == nil {
		err = p.startTrace()
	}
	if err == nil {
		err = p.startTimeline()
	}
	if err == nil {
		err = p.loadAMT()
	}
	if err == nil {
		p.showCounters()
		err = p.join(ctx)
	}
	if err != nil {
		if p != nil {
			p.hideCounters()
		}
		src.Close()
		return nil, err
	}
	p.answerQuestions()
	return p, nil
}

// restarted returns what WEFT_RESTART says.
func restarted() (int, error) {
	text := os.Getenv(launch.RestartEnv)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("weft: %s=%q: must be a count", launch.RestartEnv, text)
	}
	return n, nil
}

// envRecord names the file into which what goes into the engine is recorded;
// the rank is appended.
const envRecord = "WEFT_RECORD"

func (p *Proc) startRecording() error {
	name := os.Getenv(envRecord)
	if name == "" {
		return nil
	}
	f, err := createFresh(fmt.Sprintf("%s.%d", name, p.job.Rank))
	if err != nil {
		return fmt.Errorf("weft: %s: %w", envRecord, err)
	}
	p.record = &recording{file: f}
	return nil
}

// join opens the transports and publishes how this process is reached.
func (p *Proc) join(ctx context.Context) error {
	p.newNode(p.findRoute, p.cfg.waiting(p.job))
	p.segment = segment(p.bind())
	card := card{Host: p.job.Host, Life: p.life, Guard: p.cfg.Guard, Segment: p.segment}
	var bell transport.Doorbell
	if p.cfg.Transport != "udp" && p.cfg.Transport != "tcp" && (p.job.Local > 1 || p.cfg.Transport == "shm" || p.job.Size == 1) {
		t, err := p.openShm()
		switch {
		case err == nil:
			bell, card.Shm = t.Doorbell(), t.Card()
			p.trs, p.memory = append(p.trs, t), t.Memory()
		case p.cfg.Transport == "shm":
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
		bell, p.poll = b, b
	}
	if p.cfg.Transport == "eth" || p.cfg.Transport == "auto" && p.cfg.Interface != "" && p.job.Size > p.job.Local {
		t, err := p.openEth(bell)
		switch {
		case err == nil:
			card.Eth, p.eth = t.Card(), t
			p.trs = append(p.trs, p.spoilt(t, bell))
		case p.cfg.Transport == "eth":
			p.closeTransports()
			return err
		default:
			p.noEth = err.Error()
		}
	}
	if p.cfg.Transport == "tcp" {
		t, err := p.openTCP(bell)
		if err != nil {
			return err
		}
		card.Tcp = t.Card()
		p.trs = append(p.trs, t)
	} else if p.cfg.Transport != "eth" && (p.cfg.Transport == "udp" || p.job.Size > p.job.Local || (card.Shm == "" && p.job.Size > 1)) {
		t, err := udp.Open(udp.Config{
			Bind: p.bind(), MTU: p.cfg.MTU, Bell: bell,
			NoSegment: switchedOff(envSegment), NoGRO: switchedOff(envGRO),
		})
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

func (p *Proc) openShm() (*shm.Transport, error) {
	var t *shm.Transport
	opened := make(chan struct{}) // a peer may dial before Open has returned
	ev := p.node.Events(func() transport.Transport { <-opened; return t })
	t, err := shm.Open(shm.Config{
		Rank: p.job.Rank, Size: p.job.Size, Job: p.job.ID, Secret: p.job.Secret,
		Liveness: max(p.cfg.Liveness, 0), Events: ev, Own: p.amt.own(),
	})
	close(opened)
	return t, err
}

func (p *Proc) openEth(bell transport.Doorbell) (*eth.Transport, error) {
	if p.cfg.Interface == "" {
		return nil, fmt.Errorf("weft: transport eth: which interface? Set Config.Interface or %s", envInterface)
	}
	return eth.Open(eth.Config{
		Interface: p.cfg.Interface, EtherType: p.cfg.EtherType, MTU: p.cfg.MTU, Job: p.job.ID, Rank: p.job.Rank, Bell: bell,
		XDP: p.cfg.XDP, FramesOnly: p.cfg.GoBackN, NoSegment: switchedOff(envSegment), NoGRO: switchedOff(envGRO),
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

// spoilt returns a transport with the faults that were asked for, to test with.
func (p *Proc) spoilt(t transport.Transport, bell transport.Doorbell) transport.Transport {
	if p.cfg.faults == nil {
		return t
	}
	return p.cfg.faults(t, bell.Ring)
}

// closeTransports closes them, the one in whose memory the doorbell lies last:
// the others may ring until they are closed.
func (p *Proc) closeTransports() {
	for _, t := range slices.Backward(p.trs) {
		t.Close()
	}
	if p.poll != nil {
		p.poll.Close()
	}
}

// bind chooses the address for UDP.
func (p *Proc) bind() string {
	host, port := p.cfg.Bind, "0"
	if h, q, err := net.SplitHostPort(p.cfg.Bind); err == nil {
		host, port = h, q
	}
	return net.JoinHostPort(cmp.Or(host, p.job.Bind, "127.0.0.1"), port)
}

// rankEnded hears from the launcher that a rank has ended, or the launcher.
func (p *Proc) rankEnded(rank int, cause error) {
	if errors.Is(cause, bootstrap.ErrReturned) {
		p.node.Returned(rank)
		return
	}
	if rank >= 0 {
		p.node.Down(rank, cause, errors.Is(cause, bootstrap.ErrExited))
		return
	}
	for r := range p.job.Size {
		if r != p.job.Rank {
			p.node.Down(r, cause, false)
		}
	}
}

// hasReturned tells the others that this rank's program has ended.
func (p *Proc) hasReturned() {
	p.mu.Lock()
	barriers, closed := maps.Clone(p.barriers), p.closed
	p.mu.Unlock()
	if closed {
		return // it has said more than that
	}
	for _, b := range barriers {
		b.absent()
	}
	_ = p.src.Return(p.node.Return()) // without the launcher all is over anyhow
}

// findRoute picks the transport to a rank: shared memory where both can, else
// UDP.
func (p *Proc) findRoute(rank int) (driver.Route, error) {
	c, err := p.cardOf(rank)
	if err != nil {
		return driver.Route{}, err
	}
	var r driver.Route
	why := ""
	for _, t := range p.trs {
		name := t.Caps().Name
		switch {
		case name == "shm" && c.Shm != "" && c.Host == p.job.Host:
			r, why = driver.Route{Transport: t, Card: c.Shm}, whyShm
		case name == "eth" && c.Eth != "" && r.Transport == nil && c.Host != p.job.Host && (p.cfg.Transport == "eth" || p.eth.OnSegment(c.Eth)):
			r, why = driver.Route{Transport: t, Card: c.Eth}, fmt.Sprintf("another host, and raw Ethernet on %s (%s)", p.cfg.Interface, p.eth.Device())
		case name == "tcp" && c.Tcp != "":
			r, why = driver.Route{Transport: t, Card: c.Tcp}, whyTCP
		case name == "udp" && c.Udp != "" && r.Transport == nil:
			r, why = driver.Route{Transport: t, Card: c.Udp}, p.whyUDP(c)
		}
	}
	if r.Transport == nil {
		return r, fmt.Errorf("weft: no transport reaches rank %d on host %s from host %s with -transport %s%s",
			rank, c.Host, p.job.Host, p.cfg.Transport, c.NoShm)
	}
	g := p.guardFor(r.Transport.Caps().Name, c)
	r.Incarnation, r.Guard = c.Life, g.Guard
	p.mu.Lock()
	p.routes[rank] = route{c.Host, why, g}
	p.mu.Unlock()
	return r, nil
}

// cardOf returns the card of a rank, waiting until there is one.
func (p *Proc) cardOf(rank int) (card, error) {
	text, err := p.src.Get(p.ctx, rank, "card")
	if err != nil {
		return card{}, err
	}
	c, err := parseCard(text)
	if err != nil {
		return card{}, fmt.Errorf("rank %d: %w", rank, err)
	}
	return c, p.cfg.agrees(rank, c)
}

func (p *Proc) whyUDP(c card) string {
	switch {
	case p.cfg.Transport == "udp":
		return "-transport udp was asked for"
	case c.Host != p.job.Host:
		return "another host, so UDP; " + p.whyNotEth(c)
	default:
		return "shared memory is not to be had: " + c.NoShm
	}
}

// whyNotEth says what keeps raw Ethernet from being used.
func (p *Proc) whyNotEth(c card) string {
	switch {
	case p.cfg.Interface == "":
		return "no interface for raw Ethernet is given (" + envInterface + ")"
	case p.noEth != "":
		return p.noEth
	case c.Eth == "":
		return "it has no raw Ethernet"
	case p.eth != nil && !p.eth.OnSegment(c.Eth):
		return "it is in another subnet, which raw Ethernet does not reach"
	default:
		return "raw Ethernet was not asked for"
	}
}
