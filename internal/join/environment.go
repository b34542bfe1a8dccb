package join

import (
	"weft/internal/bootstrap"
	"weft/internal/bootstrap/environment"
	"weft/internal/counters/directory"
	"weft/internal/launch"
)

// A Variable is a variable of the environment that weft reads.
type Variable struct{ Name, Meaning string }

// Variables are those that a process of a job heeds.
var Variables = []Variable{
	{bootstrap.Env, "descriptor of the socket to the launcher; set by weft run, removed when the process joins"},
	{environment.EnvRank, "which rank this process is, where no launcher says it; see docs/LAUNCHERS.md"},
	{environment.EnvSize, "how many ranks the job has, where no launcher says it"},
	{environment.EnvRendezvous,
		"where the ranks meet: HOST or HOST:PORT of rank 0, which serves there, or etcd://HOST:PORT/PREFIX"},
	{environment.EnvSecret,
		"the secret by which ranks recognize each other: at least 16 random bytes, the same at all ranks; removed when " +
			"the process joins"},
	{environment.EnvSecretFile, "a file that contains the secret"},
	{environment.EnvTrust, "1: the job has no secret, because only its own users reach its hosts"},
	{environment.EnvLauncher,
		"the launcher that started this process, by its name in docs/LAUNCHERS.md, or none; set to none for its children " +
			"when it joins"},
	{environment.EnvLocalRank,
		"which container of its Kubernetes pod this process is in, if there are several; see weft k8s -per-pod"},
	{environment.EnvLocalSize, "how many containers each pod has"},
	{environment.EnvTransport, "as weft run -transport, where others start the job; rank 0's counts"},
	{environment.EnvLiveness,
		"the silence after which a peer counts as dead, such as 3s, where others start the job; rank 0's counts"},
	{launch.ProgramEnv, "which function the process runs; set by job.Start, removed by job.Main"},
	{launch.RestartEnv, "how often the job has been started again by weft run -restart; Proc.Restart returns it"},
	{EnvSpin, "how long to poll before sleeping, such as 50us; 0 sleeps at once"},
	{EnvInterrupt, "1: a waiting goroutine polls its own memory, and another goroutine sleeps until packets arrive and " +
		"delivers them; for comparison"},
	{EnvBind, "the address that UDP and TCP use"},
	{EnvInterface, "the Ethernet interface for raw frames to other hosts"},
	{EnvFabric, "the provider of libfabric that transport fabric uses, such as verbs;ofi_rxm; for programs with module " +
		"weft/fabric"},
	{EnvGuard, "what protects packets to other hosts: checksum, authenticate or encrypt; all ranks must have the same"},
	{EnvSegment, "off: packets to other hosts leave one by one over UDP; otherwise the kernel cuts batches of them " +
		"(UDP_SEGMENT)"},
	{EnvGRO, "off: packets from other hosts arrive one by one over UDP; otherwise the kernel joins them (UDP_GRO)"},
	{EnvGoBackN, "1: after a loss everything from the lost packet on is sent again (go-back-N)"},
	{EnvFaults, "faults of packets to other hosts, for tests: lose=0.01,repeat=0.01,reorder=0.1,damage=0.01,delay=200us"},
	{EnvTrace, "a file, with the rank appended, into which each rank writes when it leaves how much it sent to each " +
		"other rank; see weftlab amt advise"},
	{EnvAMT, "the receive rings of each rank: a file that weftlab amt advise has written; set by weft run -amt"},
	{directory.Env, "the directory in which ranks keep their pages of counters, for weft top; off: no pages; empty: " +
		"/dev/shm, or the directory for temporary files"},
}

// Variables of the environment that only package join reads.
const (
	EnvSpin      = "WEFT_SPIN"
	EnvInterrupt = "WEFT_INTERRUPT"
	EnvBind      = "WEFT_BIND"
	EnvInterface = "WEFT_INTERFACE"
	EnvGuard     = "WEFT_GUARD"
	EnvSegment   = "WEFT_UDP_SEGMENT"
	EnvGRO       = "WEFT_UDP_GRO"
	EnvGoBackN   = "WEFT_GO_BACK_N"
	EnvFaults    = "WEFT_FAULTS"

	EnvTrace    = "WEFT_TRACE"
	EnvCount    = "WEFT_COUNT" // makes a rank report what it has sent, for the page of weft run -http
	EnvTimeline = "WEFT_TIMELINE"
	EnvAMT      = "WEFT_AMT"
)
