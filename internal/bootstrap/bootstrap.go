// Package bootstrap tells a process which rank of which job it is. The ranks exchange their addresses by it. A Source
// offers the calls put, fence and get, as PMI does. There is one for each way to start a job: weft run (Launched,
// served by a Server), another launcher (Gathering: rank 0 serves the ranks), and no launcher (NewLocal).
//
// Tested in bootstrap_test.go and, with the suite of package bootstraptest, in sources_test.go.
package bootstrap

import (
	"context"
	"time"
)

// Job is a process's identity in its job. Only its launcher and the process itself know the secret in it.
type Job struct {
	Rank, Size int
	ID         uint64 // number of the job: ranks refuse packets of other jobs
	Secret     []byte // 32 bytes, the same in all ranks of the job
	Host       string // ranks with equal Host may share memory
	Local      int    // number of ranks on this host, with this one
	Crowd      int    // number of ranks that share this host's processors: more than Local if hosts are pretended
	Bind       string // the address by which other hosts reach this process; "" if the launcher knows none

	Transport string        // the transport that the user named, such as "udp"; "" for none
	Liveness  time.Duration // the liveness time that the user named; 0 for none
}

// DefaultLiveness is the silence after which a rank or a host counts as dead, unless the user names another time.
const DefaultLiveness = 3 * time.Second

// Every stands for all ranks in Source.Await.
const Every = -1

// Source is the launcher's service to one rank. Its methods may be called by any goroutine.
type Source interface {
	// Job returns the identity of this process.
	Job() Job

	// Put publishes a value under key. A key is put at most once.
	Put(ctx context.Context, key, value string) error

	// Get returns the value that rank has put under key. It waits until there is one.
	Get(ctx context.Context, rank int, key string) (string, error)

	// Fence returns when every rank has called it as often as this one.
	Fence(ctx context.Context) error

	// Return says that this rank's program has ended. The ranks in told know it already, or will learn of it from this
	// rank; the others are told if they await it.
	Return(told []int) error

	// Await says that this rank must learn when the program of a rank has returned, or has before; Every stands for all
	// ranks. Without, this rank is told only when no other rank is left whose program runs.
	Await(rank int)

	// Watch makes the source call down, from a goroutine of its own, for each rank that dies or has died before, and for
	// those that Await tells of; rank -1 is the launcher. The cause is ErrReturned if the rank's program has ended, and
	// ErrExited if the rank has closed its source. Watch is called at most once.
	Watch(down func(rank int, cause error))

	// Answer makes the source call state, from a goroutine of its own, when the launcher asks what this process waits
	// for.
	Answer(state func() string)

	// Fail says that this rank's program has failed, and why; because is the rank whose end is the cause, or -1. The rank
	// then counts as failed, whatever follows.
	Fail(cause string, because int)

	// Close leaves the job. Afterwards the end of the process is no failure; after Fail the other ranks are told the
	// cause.
	Close() error
}
