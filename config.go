package weft

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/bootstrap/environment"
	"weft/internal/counters/directory"
	"weft/internal/driver"
	"weft/internal/engine/link"
	"weft/internal/launch"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/faulty"
)

// Config shapes how a process joins its job. The zero value is good: what the
// launcher was told counts, and after that the defaults.
type Config struct {
	// Transport is "auto" (the default: shared memory inside a host; to others raw
	// Ethernet if an interface is given and may be used, else UDP), "shm", "eth"
	// (shared memory inside a host, raw Ethernet to others), "udp", or "tcp" (for
	// networks that carry nothing else; to everybody, and slower).
	Transport string

	// Liveness is the silence after which a peer counts as dead, at least
	// MinLiveness; 0 means 3 seconds, a negative value never. The death of a process
	// on the same host is noticed at once, whatever this is.
	Liveness time.Duration

	// Spin is how long a goroutine polls before it sleeps; 0 means a time
	// that fits the processors this process may use, a negative value that it
	// sleeps at once. Polling makes answers arrive sooner and costs processor
	// time.
	Spin time.Duration

	// Bind is the address that UDP and TCP use, "host" or "host:port"; empty means
	// loopback, which is right as long as all ranks are on this machine.
	Bind string

	// Interface is the Ethernet interface for raw frames to other hosts, such as
	// "eth0"; empty means none, or what WEFT_INTERFACE says. Several, with commas, are
	// a trunk: packets are spread over them. It needs CAP_NET_RAW.
	Interface string

	// XDP takes raw frames off the driver's queue by AF_XDP, where that is to be had.
	// It needs CAP_NET_ADMIN and CAP_BPF, serves one rank for each interface, and
	// pays with drivers that know zero copy. WEFT_XDP=1 does the same.
	XDP bool

	// EtherType is that of raw frames; 0 means 0x88b5.
	EtherType uint16

	// MTU is the longest packet to other hosts in bytes, 0 for what the interface
	// takes.
	MTU int

	// Guard is what protects packets to other hosts: GuardChecksum, GuardAuthenticate or
	// GuardEncrypt. Empty means what WEFT_GUARD says, or else what the way to each rank
	// asks for: GuardEncrypt where a router may lie between the two, and on one segment
	// GuardAuthenticate over UDP, GuardChecksum over raw Ethernet and TCP. Weaker packets
	// than that are not taken. All ranks must have the same.
	Guard string

	// GoBackN sends everything again from a lost packet on, as PM/Ethernet does.
	// Otherwise only what was lost is sent again, if the peer does so too.
	// WEFT_GO_BACK_N=1 does the same.
	GoBackN bool

	// Window is how many packets to another host may be on their way to one peer; 0 means 256.
	Window int

	// RetransmitMin and RetransmitMax bound the time after which an
	// unacknowledged packet is sent again, which otherwise follows the
	// measured round trips; 0 means 2 ms and 500 ms.
	RetransmitMin, RetransmitMax time.Duration

	interrupt bool                                                         // for paper 004: see driver.Waiting
	faults    func(t transport.Transport, ring func()) transport.Transport // for tests: spoils what comes over a network
}

// MinLiveness is the shortest silence that can be told from a process that waits for a
// processor: see Config.Liveness.
const MinLiveness = 10 * time.Millisecond

// A Variable is a variable of the environment that weft reads.
type Variable struct{ Name, Meaning string }

// Environment returns the variables that a process of a job heeds, each with a line of
// explanation. A program never has to read them.
func Environment() []Variable { return slices.Clone(environmentVariables) }

var environmentVariables = []Variable{
	{bootstrap.Env, "descriptor of the socket to the launcher; set by weft run, removed when the process joins"},
	{environment.EnvRank, "which rank this process is, where no launcher says it; see docs/LAUNCHERS.md"},
	{environment.EnvSize, "how many ranks the job has, where no launcher says it"},
	{environment.EnvRendezvous, "where the ranks meet: HOST or HOST:PORT of rank 0, which serves there, or etcd://HOST:PORT/PREFIX"},
	{environment.EnvSecret, "by what ranks recognize each other: at least 16 bytes at random, the same in all; removed when the process joins"},
	{environment.EnvSecretFile, "a file with the secret instead"},
	{environment.EnvTrust, "1: the job has no secret, since nobody else reaches its hosts"},
	{environment.EnvLauncher, "by which of the ways that docs/LAUNCHERS.md lists this process was started, or none; set to none for its children when it joins"},
	{environment.EnvLocalRank, "which container of its Kubernetes pod this process is in, if there are several; see weft k8s -per-pod"},
	{environment.EnvLocalSize, "how many containers each pod has"},
	{environment.EnvTransport, "as weft run -transport, where others start the job; rank 0's counts"},
	{environment.EnvLiveness, "the silence after which a peer counts as dead, such as 3s, where others start the job; rank 0's counts"},
	{envProgram, "which function the process is to be; set by Launch, removed by Launched"},
	{launch.RestartEnv, "how often the job has been started again by weft run -restart; Proc.Restart returns it"},
	{envSpin, "how long to poll before sleeping, such as 50us; 0 sleeps at once"},
	{envInterrupt, "1: a goroutine that waits polls its own memory, and another one, which sleeps until packets come, brings them; to compare with"},
	{envBind, "the address that UDP and TCP use"},
	{envInterface, "the Ethernet interface for raw frames to other hosts"},
	{envGuard, "what protects packets to other hosts: checksum, authenticate or encrypt; all ranks must have the same"},
	{envSegment, "off: packets to other hosts leave one by one over UDP; otherwise the kernel cuts batches of them (UDP_SEGMENT)"},
	{envGRO, "off: packets from other hosts arrive one by one over UDP; otherwise the kernel joins them (UDP_GRO)"},
	{envGoBackN, "1: after a loss everything is sent again, not only what was lost"},
	{envXDP, "1: raw frames by AF_XDP where that is to be had"},
	{envFaults, "what happens to packets on the way to other hosts, to test with: lose=0.01,repeat=0.01,reorder=0.1,damage=0.01,delay=200us"},
	{envTrace, "count what each rank sends to whom, and write it in this file, with the rank appended, when the rank leaves; see weft amt advise"},
	{envAMT, "the receive rings of each rank: a file that weft amt advise has written, or auto; set by weft run -amt"},
	{directory.Env, "the directory in which ranks keep their pages of counters, for weft top; off: none; otherwise /dev/shm, or where temporary files go"},
	{envRecord, "record what goes into the engine of each rank in this file, with the rank appended; see weft sim replay"},
}

const (
	envSpin = "WEFT_SPIN"
	envBind = "WEFT_BIND"

	envInterrupt = "WEFT_INTERRUPT"

	envInterface = "WEFT_INTERFACE"
	envGuard     = "WEFT_GUARD"
	envXDP       = "WEFT_XDP"
	envGoBackN   = "WEFT_GO_BACK_N"
	envFaults    = "WEFT_FAULTS"
	envSegment   = "WEFT_UDP_SEGMENT"
	envGRO       = "WEFT_UDP_GRO"
)

// resolve completes a configuration from the job and the environment.
func (c *Config) resolve(job bootstrap.Job) (Config, error) {
	var r Config
	if c != nil {
		r = *c
	}
	if r.Transport == "" {
		r.Transport = job.Transport
	}
	switch r.Transport {
	case "":
		r.Transport = "auto"
	case "auto", "shm", "eth", "udp", "tcp":
	default:
		return r, fmt.Errorf("weft: transport %q: must be auto, shm, eth, udp or tcp", r.Transport)
	}
	if r.Liveness == 0 {
		r.Liveness = job.Liveness
	}
	if r.Liveness == 0 {
		r.Liveness = bootstrap.DefaultLiveness
	}
	if r.Liveness > 0 && r.Liveness < MinLiveness {
		return r, fmt.Errorf("weft: Liveness %v: must be at least %v, 0 for the default, or negative for never", r.Liveness, MinLiveness)
	}
	if r.Bind == "" {
		r.Bind = os.Getenv(envBind)
	}
	if text := os.Getenv(envFaults); text != "" && r.faults == nil {
		f, err := parseFaults(text)
		if err != nil {
			return r, err
		}
		r.faults = func(t transport.Transport, ring func()) transport.Transport {
			return faulty.New(t, f, job.ID^uint64(job.Rank), ring)
		}
	}
	if r.Guard == "" {
		r.Guard = os.Getenv(envGuard)
	}
	if err := checkGuard(r.Guard); err != nil {
		return r, err
	}
	r.interrupt = os.Getenv(envInterrupt) == "1"
	r.XDP = r.XDP || os.Getenv(envXDP) == "1"
	r.GoBackN = r.GoBackN || os.Getenv(envGoBackN) == "1"
	if r.Interface == "" {
		r.Interface = os.Getenv(envInterface)
	}
	if text := os.Getenv(envSpin); text != "" && r.Spin == 0 {
		d, err := time.ParseDuration(text)
		if text == "0" {
			d, err = 0, nil
		}
		if err != nil {
			return r, fmt.Errorf("weft: %s=%q: must be a time such as 50us: %w", envSpin, text, err)
		}
		if r.Spin = d; d == 0 {
			r.Spin = -1
		}
	}
	return r, nil
}

// waiting chooses how goroutines wait. With more ranks than processors on a
// host, polling would burn the time slices of those it waits for.
func (c *Config) waiting(job bootstrap.Job) driver.Waiting {
	switch {
	case c.interrupt:
		return driver.Waiting{Budget: 250 * time.Microsecond, Interrupt: true}
	case c.Spin < 0:
		return driver.Waiting{}
	case c.Spin > 0:
		return driver.Waiting{Budget: c.Spin}
	case float64(job.Crowd) > sys.CPUs():
		return driver.Waiting{Yields: 16}
	default:
		return driver.Waiting{Budget: 250 * time.Microsecond}
	}
}

// Waiting says how the goroutines of this process wait, and why so.
func (p *Proc) Waiting() string {
	w := p.wait
	cpus := fmt.Sprintf("%d ranks on %.3g processors", p.job.Crowd, sys.CPUs())
	switch {
	case w.Interrupt:
		return fmt.Sprintf("they poll for up to %v until another goroutine, which sleeps meanwhile, has brought the packet (%s)", w.Budget, envInterrupt)
	case w.InProcess:
		return "they let other goroutines run, then sleep (all ranks are goroutines)"
	case p.cfg.Spin != 0:
		return fmt.Sprintf("they poll for up to %v, then sleep (%s or Config.Spin says so)", w.Budget, envSpin)
	case w.Yields > 0:
		return fmt.Sprintf("they give way to others %d times, then sleep (%s)", w.Yields, cpus)
	default:
		return fmt.Sprintf("they poll for up to %v, then sleep (%s)", w.Budget, cpus)
	}
}

// link returns the configuration of lossy links.
func (c *Config) link() link.Config {
	return link.Config{
		Window: c.Window, RTOMin: c.RetransmitMin, RTOMax: c.RetransmitMax, Liveness: c.Liveness,
		Selective: !c.GoBackN,
	}
}

// parseFaults reads what envFaults says.
func parseFaults(text string) (f faulty.Faults, err error) {
	fields := map[string]*float64{"lose": &f.Lose, "repeat": &f.Repeat, "reorder": &f.Reorder, "damage": &f.Damage}
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		if name == "delay" {
			if f.Delay, err = time.ParseDuration(value); err != nil || f.Delay < 0 {
				return f, fmt.Errorf("weft: %s: %q: must be a time such as 200us", envFaults, part)
			}
			continue
		}
		p, err := strconv.ParseFloat(value, 64)
		if fields[name] == nil || err != nil || !(p >= 0 && p < 1) {
			return f, fmt.Errorf("weft: %s: %q: must be lose, repeat, reorder or damage, = and a share from 0 to less than 1, or delay=200us", envFaults, part)
		}
		*fields[name] = p
	}
	return f, nil
}
