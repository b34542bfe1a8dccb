package weft

import "fmt"

// A Transport is a way for packets to other ranks: see Config.Transport and Peer.Transport.
type Transport string

// The transports that Config accepts.
const (
	// TransportAuto chooses for each rank: shared memory on the same host; to other hosts
	// raw Ethernet if an interface is given and may be used, else UDP.
	TransportAuto Transport = "auto"
	// TransportShm is shared memory, between ranks of one host.
	TransportShm Transport = "shm"
	// TransportEth is raw Ethernet to other hosts, and shared memory inside a host.
	TransportEth Transport = "eth"
	// TransportUDP is UDP to all ranks.
	TransportUDP Transport = "udp"
	// TransportTCP is TCP to all ranks. It is slower than UDP, and serves networks that
	// carry nothing else.
	TransportTCP Transport = "tcp"
)

// The transports that only Peer names.
const (
	// TransportSelf is that of a rank to itself.
	TransportSelf Transport = "self"
	// TransportPipe is that of Local: the ranks are goroutines of one process.
	TransportPipe Transport = "pipe"
	// TransportSim is the simulated network of Simulate.
	TransportSim Transport = "sim"
)

// checkTransport returns an OptionError if Config does not accept a transport. The option is where
// the transport comes from.
func checkTransport(t Transport, option string) error {
	switch t {
	case TransportAuto, TransportShm, TransportEth, TransportUDP, TransportTCP:
		return nil
	}
	takes := fmt.Sprintf("%s, %s, %s, %s or %s",
		TransportAuto, TransportShm, TransportEth, TransportUDP, TransportTCP)
	return &OptionError{Option: option, Value: string(t), Takes: takes}
}
