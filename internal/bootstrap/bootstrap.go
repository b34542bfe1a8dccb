// Package bootstrap answers who is in the job and how to reach them. Every
// launcher offers the same three calls, put, fence and get; one file per
// source.
package bootstrap

import (
	"context"
	"time"
)

// Job is a process's identity: what its launcher tells it, and nobody else.
type Job struct {
	Rank, Size int
	ID         uint64 // the process group (PGID): packets of other jobs are refused
	Secret     []byte // 32 bytes, the same in all ranks of the job
	Host       string // ranks with equal Host may share memory
	Local      int    // ranks of the job on this host, this one included
	Crowd      int    // ranks that share its processors: Local, but where hosts are pretended
	Bind       string // the address by which others reach this process; "" if the launcher knows none

	Transport string        // "auto", "shm" or "udp", as the launcher was told; "" if it was not
	Liveness  time.Duration // as the launcher was told; 0 if it was not
}

// DefaultLiveness is the silence after which a rank or a host counts as dead where nobody has
// said one.
const DefaultLiveness = 3 * time.Second

// Source is a launcher as one of its processes sees it. Its methods may be
// called by any goroutine.
type Source interface {
	// Job returns the identity of this process.
	Job() Job

	// Put publishes a value under key. A key is put at most once.
	Put(ctx context.Context, key, value string) error

	// Get returns what rank put under key, waiting until it has.
	Get(ctx context.Context, rank int, key string) (string, error)

	// Fence returns when every rank has called it as often as this one.
	Fence(ctx context.Context) error

	// Return says that this rank's program has ended, to all ranks but those that
	// have been told in another way.
	Return(told []int) error

	// Watch calls down, from a goroutine of the source, for each rank that has
	// ended, also for those that ended before; rank -1 means the launcher
	// itself. The cause is ErrReturned for a rank whose program has ended,
	// ErrExited for one that has left in good order. At most one Watch per
	// source.
	Watch(down func(rank int, cause error))

	// Answer makes the source answer the launcher's question what this process
	// waits for, from a goroutine of its own.
	Answer(state func() string)

	// Fail says that this rank's program has failed, and why: the Close that follows is
	// none in good order.
	Fail(cause string)

	// Close leaves the job in good order.
	Close() error
}
