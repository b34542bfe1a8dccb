package weft

import (
	"fmt"
	"os"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/engine/link"
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

// link returns the configuration of lossy links.
func (c *Config) link() link.Config {
	return link.Config{
		Window: c.Window, RTOMin: c.RetransmitMin, RTOMax: c.RetransmitMax, Liveness: c.Liveness,
		Selective: !c.GoBackN,
	}
}
