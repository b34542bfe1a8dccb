package weft

// A Transport is a way for packets to other ranks: see Config.Transport and Peer.Transport.
type Transport string

// The transports that Config accepts.
const (
	// TransportAuto chooses for each rank: shared memory on the same host; to other hosts
	// libfabric if the program imports module weft/fabric and there is a device for remote
	// memory access, else raw Ethernet if an interface is given and may be used, else UDP.
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
	// TransportFabric is libfabric to all ranks, in a program that imports module weft/fabric (docs/FABRIC.md).
	TransportFabric Transport = "fabric"
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

// A Guard is what protects packets to other hosts: see Config.Guard and docs/SECURITY.md.
type Guard string

// The guards, the weakest first.
const (
	GuardChecksum     Guard = "checksum"     // from damage
	GuardAuthenticate Guard = "authenticate" // from forgery and replay as well; over TCP the same as GuardEncrypt
	GuardEncrypt      Guard = "encrypt"      // from reading as well
)
