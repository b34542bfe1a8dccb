package perf

import (
	"fmt"
	"slices"
)

// hostTargets returns the targets on one host: shared memory, and UDP over loopback.
func hostTargets() []Target {
	beside := [][2]string{{"shm", "shared memory"}, {"udp", "UDP over loopback"}, {"tcp", "TCP over loopback"}}
	return slices.Concat(
		messageTargets(), waitingTargets(), goroutineTargets(), barrierTargets(), lockTargets(), ipushTargets(),
		libraryTargets(), streamTargets(), besideTargets(beside))
}

// messageTargets concern messages and one-sided writes between two ranks.
func messageTargets() []Target {
	send8 := spec("latency", "send", 8)
	put8 := spec("latency", "put", 8)
	push8 := spec("latency", "push", 8)
	send8k := spec("latency", "send", 8<<10)
	send1m := spec("bandwidth", "send", 1<<20)
	alloc1m := send1m.with(func(s *Spec) { s.Alloc = true })
	push1m := spec("bandwidth", "push", 1<<20)
	udp64 := spec("latency", "send", 64).with(func(s *Spec) { s.Transport = "udp" })
	mpi1m := systemsDoing(send1m, "openmpi", "mpich")
	return []Target{
		{Name: "send8", What: "message of 8 B",
			Ours: send8, Against: systemsDoing(send8, "openmpi"), Limit: 1},
		{Name: "put8", What: "PUT 8 B, polling peer",
			Ours: put8, Against: systemsDoing(put8, "ucx"), Limit: 1.1},
		{Name: "push8", What: "PUSH 8 B, polling peer",
			Ours: push8, Against: systemsDoing(push8, "ucx"), Limit: 1.1},
		{Name: "send8k", What: "message of 8 KiB",
			Ours: send8k, Against: systemsDoing(send8k, "mpich"), Limit: 1},
		{Name: "send1m", What: "messages of 1 MiB from ordinary memory",
			Ours: send1m, Against: mpi1m, Limit: 0.9, AtLeast: true},
		{Name: "alloc1m", What: "messages of 1 MiB from `Alloc` memory",
			Ours: alloc1m, Against: mpi1m, Limit: 1.2, AtLeast: true},
		{Name: "push1m", What: "PUSH of 1 MiB",
			Ours: push1m, Against: mpi1m, Limit: 1.2, AtLeast: true},
		{Name: "rate8", What: "messages of 8 B, one pair",
			Ours: spec("rate", "send", 8), Limit: 5, AtLeast: true, unit: "M/s"},
		{Name: "udp64", What: "UDP over loopback, 64 B",
			Ours: udp64, Against: systemsDoing(udp64, "tcp"), Limit: 0.5},
	}
}

// waitingTargets concern ranks that wait, and ranks that share processors.
func waitingTargets() []Target {
	blocked := spec("latency", "send", 8).with(func(s *Spec) { s.Blocked = true })
	many := spec("alltoall", "send", 8).with(func(s *Spec) {
		s.N = 16
		s.Exchanges = 1000
	})
	two := many.with(func(s *Spec) { // as many messages, between two ranks
		s.N = 2
		s.Exchanges = many.Exchanges * many.N * (many.N - 1) / 2
	})
	return []Target{
		{Name: "blocked", What: "8 B, both sides asleep",
			Ours: blocked, Against: systemsDoing(blocked, "unix"), Limit: 0.4},
		{Name: "idle", What: "two ranks that wait: processor time",
			Ours: spec("idle", "recv", 8), Limit: 0.02, unit: "s/s"},
		{Name: "alltoall", What: "16 ranks on 2 processors, all to all: processor time",
			Ours: many, Against: weftDoing("weft, 2 ranks", two), Limit: 3},
	}
}

// lockTargets concern a lock that is taken again, and one that passes from rank to rank.
func lockTargets() []Target {
	lock := func(op string) Spec {
		return spec("lock", op, 0).with(func(s *Spec) {
			s.N = 2
			s.Algorithm = "queue"
		})
	}
	return []Target{
		{Name: "relock", What: "Lock and Unlock by the rank that held the lock last",
			Ours: lock("reacquire"), Limit: 0.05, unit: "us"},
		{Name: "handover", What: "a lock passed to the next rank",
			Ours: lock("handover"), Against: weftDoing("a message", spec("latency", "send", 8)), Limit: 2},
	}
}

// barrierTargets concern barriers of 2 ranks to many more than there are processors.
func barrierTargets() (targets []Target) {
	for _, n := range []int{2, 4, 8, 16} {
		limit := 0.5
		if n == 2 {
			limit = 1
		}
		s := spec("barrier", "", 0).with(func(s *Spec) {
			s.N = n
			s.Algorithm = "auto"
		})
		targets = append(targets, Target{
			Name: fmt.Sprintf("barrier%d", n), What: fmt.Sprintf("barrier, %d ranks", n),
			Ours: s, Against: systemsDoing(s, "openmpi"), Limit: limit,
		})
	}
	return targets
}

// goroutineTargets concern messages that several goroutines of a rank send and receive.
func goroutineTargets() []Target {
	goroutines := func(pattern string, n int) Spec {
		return spec("latency", "send", 8).with(func(s *Spec) {
			s.Pattern = pattern
			s.Goroutines = n
		})
	}
	handoff := goroutines("handoff", 1)
	rpc := goroutines("rpc", 1)
	many := goroutines("direct", 64)
	return []Target{
		{Name: "handoff", What: "8 B, the receiver hands requests on by a channel",
			Ours: handoff, Against: weftDoing("direct", goroutines("direct", 1)), Limit: 3},
		{Name: "handoffunix", What: "the same, against a Unix socket",
			Ours: handoff, Against: systemsDoing(handoff, "unix"), Limit: 0.5},
		{Name: "goroutines64", What: "64 goroutines, a port each",
			Ours: many, Against: systemsDoing(many, "unix"), Limit: 1},
		{Name: "rpc", What: "net/rpc over a port",
			Ours: rpc, Against: systemsDoing(rpc, "unix"), Limit: 1},
	}
}

// ipushTargets compare IPUSH into a mailbox with PUSH, and a shared ring with rings of their own.
func ipushTargets() []Target {
	short := func(name, bytes string, size int) Target {
		against := slices.Concat(
			weftDoing("push", spec("ipush", "push", size)),
			weftDoing("push and a status", spec("ipush", "push-status", size)))
		return Target{
			Name: name, What: "IPUSH, " + bytes,
			Ours: spec("ipush", "ipush", size), Against: against, Limit: 1.1,
		}
	}
	oneWay := func(op string) Spec {
		return spec("ipush", op, 1<<20).with(func(s *Spec) { s.Figure = "bandwidth" })
	}
	gather := func(op string) Spec {
		return spec("gather", op, 256).with(func(s *Spec) {
			s.N = 8
			s.Exchanges = 20000
		})
	}
	return []Target{
		short("ipush8", "8 B", 8),
		short("ipush4k", "4 KiB", 4<<10),
		{Name: "ipush1m", What: "IPUSH, 1 MiB, by half a round trip",
			Ours: oneWay("ipush"), Against: weftDoing("push", oneWay("push")), Limit: 0.95, AtLeast: true},
		{Name: "shared7", What: "7 senders of 256 B, one ring",
			Ours: gather("shared"), Against: weftDoing("own rings", gather("own")), Limit: 0.7, AtLeast: true},
	}
}
