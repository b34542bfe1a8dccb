package weft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/bootstrap/environment"
	"weft/internal/counters/directory"
	"weft/internal/launch"
	"weft/internal/transport/faulty"
)

// A Variable is a variable of the environment that weft reads.
type Variable struct{ Name, Meaning string }

// Environment returns the variables that a process of a job heeds, each with a line of
// explanation. A program never has to read them.
func Environment() []Variable { return slices.Clone(environmentVariables) }

var environmentVariables = []Variable{
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
	{envSpin, "how long to poll before sleeping, such as 50us; 0 sleeps at once"},
	{envInterrupt, "1: a waiting goroutine polls its own memory, and another goroutine sleeps until packets arrive and " +
		"delivers them; for comparison"},
	{envBind, "the address that UDP and TCP use"},
	{envInterface, "the Ethernet interface for raw frames to other hosts"},
	{envGuard, "what protects packets to other hosts: checksum, authenticate or encrypt; all ranks must have the same"},
	{envSegment, "off: packets to other hosts leave one by one over UDP; otherwise the kernel cuts batches of them " +
		"(UDP_SEGMENT)"},
	{envGRO, "off: packets from other hosts arrive one by one over UDP; otherwise the kernel joins them (UDP_GRO)"},
	{envGoBackN, "1: after a loss everything from the lost packet on is sent again (go-back-N)"},
	{envFaults, "faults of packets to other hosts, for tests: lose=0.01,repeat=0.01,reorder=0.1,damage=0.01,delay=200us"},
	{envTrace, "a file, with the rank appended, into which each rank writes when it leaves how much it sent to each " +
		"other rank; see weftlab amt advise"},
	{envAMT, "the receive rings of each rank: a file that weftlab amt advise has written, or auto; set by weft run -amt"},
	{directory.Env, "the directory in which ranks keep their pages of counters, for weft top; off: no pages; empty: " +
		"/dev/shm, or the directory for temporary files"},
	{envRecord, "a file, with the rank appended, into which the inputs of each rank's engine are recorded; see weft " +
		"sim replay"},
}

const (
	envSpin = "WEFT_SPIN"
	envBind = "WEFT_BIND"

	envInterrupt = "WEFT_INTERRUPT"

	envInterface = "WEFT_INTERFACE"
	envGuard     = "WEFT_GUARD"
	envGoBackN   = "WEFT_GO_BACK_N"
	envFaults    = "WEFT_FAULTS"
	envSegment   = "WEFT_UDP_SEGMENT"
	envGRO       = "WEFT_UDP_GRO"
)

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
			return f, fmt.Errorf("weft: %s: %q: must be lose, repeat, reorder or damage, = and a share from 0 to less than "+
				"1, or delay=200us", envFaults, part)
		}
		*fields[name] = p
	}
	return f, nil
}
