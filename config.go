package weft

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/engine/link"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/faulty"
)

// Config configures how a process joins its job. In the zero value, every field takes the
// value that the launcher was given, or else its default. Fields that the environment can set
// as well name the variable; the field takes precedence.
type Config struct {
	// Transport is how packets travel to other ranks: TransportShm, TransportEth,
	// TransportUDP or TransportTCP. Empty means that of the launcher, or else TransportAuto,
	// which chooses for each rank.
	Transport Transport

	// Liveness is the time of silence after which a peer counts as dead, at least
	// MinLiveness; 0 means 3 seconds, or more where more than 16 ranks share a processor, and
	// a negative value means never. The death of a process on the same host is noticed at
	// once, whatever Liveness is.
	Liveness time.Duration

	// Spin is how long a waiting goroutine polls before it sleeps. 0 means a time that suits
	// the number of ranks and processors on the host, a negative value that it sleeps at
	// once. Polling shortens waits and costs processor time. WEFT_SPIN sets it as well.
	Spin time.Duration

	// Bind is the address that UDP and TCP use, "host" or "host:port". Empty means the
	// address that the launcher knows, or else loopback, which suffices if all ranks are on
	// this machine. WEFT_BIND sets it as well.
	Bind string

	// Interface is the Ethernet interface for raw frames to other hosts, such as "eth0";
	// empty means none. Several names with commas between them are a trunk: packets are
	// spread over them. It needs CAP_NET_RAW. WEFT_INTERFACE sets it as well.
	Interface string

	// EtherType is the type of raw Ethernet frames; 0 means 0x88b5 (local experimental).
	EtherType uint16

	// MTU is the longest packet to other hosts in bytes; 0 means the longest that the
	// interface takes.
	MTU int

	// Guard is what protects packets to other hosts: GuardChecksum, GuardAuthenticate or
	// GuardEncrypt. Empty means that it depends on the path to each rank: GuardEncrypt if a
	// router may lie between the two hosts; on one segment GuardAuthenticate over UDP, and
	// GuardChecksum over raw Ethernet and TCP. Packets with a weaker guard are dropped. All
	// ranks must be configured alike. WEFT_GUARD sets it as well.
	Guard Guard

	// GoBackN makes a link resend everything from a lost packet on, as PM/Ethernet does.
	// Otherwise only lost packets are sent again (selective repeat), if the peer is
	// configured so, too. WEFT_GO_BACK_N=1 does the same.
	GoBackN bool

	// Window is how many packets to one peer on another host may be unacknowledged; 0 means 256.
	Window int

	// RetransmitMin and RetransmitMax bound the time after which an unacknowledged packet is
	// sent again. Within these bounds it follows the measured round-trip times. 0 means 2 ms
	// and 500 ms.
	RetransmitMin, RetransmitMax time.Duration

	interrupt bool                                                         // WEFT_INTERRUPT; see driver.Waiting
	faults    func(t transport.Transport, ring func()) transport.Transport // for tests: spoils what comes over a network
}

// MinLiveness is the least value of Config.Liveness. A shorter silence cannot be told from
// that of a process that waits for a processor.
const MinLiveness = 10 * time.Millisecond

// manyRanks is how many ranks a processor serves in time for the default liveness time.
const manyRanks = 16

// defaultLiveness is the liveness time where nothing names it. It grows with the ranks that share the processors of a
// host: one of a hundred ranks on a processor may wait for seconds until it runs, and lives.
func defaultLiveness(ranks int, cpus float64) time.Duration {
	return time.Duration(max(1, float64(ranks)/(manyRanks*cpus)) * float64(bootstrap.DefaultLiveness))
}

// resolve completes a configuration from the job and the environment.
func (c *Config) resolve(job bootstrap.Job) (Config, error) {
	var r Config
	if c != nil {
		r = *c
	}
	from := "Config.Transport"
	if r.Transport == "" {
		from = "-transport"
		r.Transport = cmp.Or(Transport(job.Transport), TransportAuto)
	}
	if err := checkTransport(r.Transport, from); err != nil {
		return r, err
	}
	if r.Liveness == 0 {
		r.Liveness = job.Liveness
	}
	if r.Liveness == 0 {
		r.Liveness = defaultLiveness(job.Crowd, sys.CPUs())
	}
	if r.Liveness > 0 && r.Liveness < MinLiveness {
		return r, fmt.Errorf("weft: Liveness %v: must be at least %v, 0 for the default, or negative for never",
			r.Liveness, MinLiveness)
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
	from = "Config.Guard"
	if r.Guard == "" {
		from = envGuard
		r.Guard = Guard(os.Getenv(envGuard))
	}
	if err := checkGuard(r.Guard, from); err != nil {
		return r, err
	}
	r.interrupt = os.Getenv(envInterrupt) == "1"
	r.GoBackN = r.GoBackN || os.Getenv(envGoBackN) == "1"
	if r.Interface == "" {
		r.Interface = os.Getenv(envInterface)
	}
	if text := os.Getenv(envSpin); text != "" && r.Spin == 0 {
		d, err := time.ParseDuration(text)
		if text == "0" {
			d = 0
			err = nil
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
