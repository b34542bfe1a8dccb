package weft

import (
	"time"

	"weft/internal/join"
	"weft/internal/transport"
)

// Config configures how a process joins its job. In the zero value, every field takes the
// value that the launcher was given, or else its default. Fields that the environment can set
// as well name the variable; the field takes precedence.
type Config struct {
	// Transport is how packets travel to other ranks: TransportShm, TransportEth,
	// TransportUDP, TransportTCP or TransportFabric. Empty means that of the launcher, or else TransportAuto,
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

	// Window is how many packets to one peer on another host may be unacknowledged; 0 means 256,
	// and more on a path with a long delay.
	Window int

	// RetransmitMin and RetransmitMax bound the time after which an unacknowledged packet is
	// sent again. Within these bounds it follows the measured round-trip times. 0 means 2 ms
	// and 500 ms.
	RetransmitMin, RetransmitMax time.Duration

	faults func(t transport.Transport, ring func()) transport.Transport // for tests: spoils what comes over a network
}

// MinLiveness is the least value of Config.Liveness. A shorter silence cannot be told from
// that of a process that waits for a processor.
const MinLiveness = join.MinLiveness

// settings returns what the program has configured; c may be nil.
func (c *Config) settings() join.Settings {
	if c == nil {
		return join.Settings{}
	}
	return join.Settings{
		Transport: string(c.Transport), Liveness: c.Liveness, Spin: c.Spin, Bind: c.Bind, Interface: c.Interface,
		EtherType: c.EtherType, MTU: c.MTU, Guard: string(c.Guard), GoBackN: c.GoBackN, Window: c.Window,
		RetransmitMin: c.RetransmitMin, RetransmitMax: c.RetransmitMax, Faults: c.faults,
	}
}
