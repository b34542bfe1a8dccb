package weft

import (
	"context"
	"fmt"

	"weft/internal/driver"
	"weft/internal/engine/coord"
)

// MaxName is the longest name of a lock, semaphore, condition or barrier in bytes.
const MaxName = 255

// A LockAlgorithm is how the ranks pass a lock on.
type LockAlgorithm string

const (
	// LockQueue is a distributed queue: the lock is handed on with one message, and taken
	// again without any by the rank that had it last. It is the default.
	LockQueue LockAlgorithm = "queue"
	// LockCentral is a queue at one rank, the lock's home: two messages hand the lock on.
	LockCentral LockAlgorithm = "central"
)

// LockConfig configures a lock. Zero values mean the defaults. All ranks that use a
// lock must configure it alike; else they get a ConfigMismatchError.
type LockConfig struct {
	// Algorithm is LockQueue (the default) or LockCentral.
	Algorithm LockAlgorithm

	// Fair, with LockQueue, makes a rank that has released the lock queue behind all others
	// before it takes the lock again, which costs messages. Otherwise it may take the lock
	// again before a rank whose request is still on its way.
	Fair bool
}

// A Lock is held by one rank of the job at a time. All Locks of the same name are the same lock;
// nothing has to be created. It does not exclude goroutines of one rank from each other: if
// the rank already holds the lock, or waits for it, the call fails with ErrHeld. Such
// goroutines take a sync.Mutex first.
//
// Each name has a home, a rank that follows from the name. If the home dies, calls fail with a
// PeerError. If the holder dies, or a rank that waits, the lock goes to the next rank in the
// queue.
type Lock struct{ locker }

// A Grant is what Lock returns: the right to use what the lock protects, until Unlock.
type Grant struct {
	// Epoch is higher than that of every earlier grant. Regions that the lock guards refuse
	// operations under an older epoch; see Remote.Under.
	Epoch uint64

	// HolderDied says that a rank held the lock, or may have, that has died, or whose program has returned: what the
	// lock protects may be half changed.
	HolderDied bool

	lock uint64
}

// locker is what locks, semaphores and conditions have in common.
type locker struct {
	p    *Proc
	name string
	o    *coord.Object
	err  error
}

// Lock returns the lock of a name of 1 to MaxName bytes. It does not communicate; errors in name
// or cfg, which may be nil, are returned by the calls on the lock.
func (p *Proc) Lock(name string, cfg *LockConfig) *Lock {
	c := coord.Config{Class: coord.QueueLock, Name: name}
	var err error
	if cfg != nil {
		c.Fair = cfg.Fair
		switch cfg.Algorithm {
		case "", LockQueue:
		case LockCentral:
			c.Class = coord.CentralLock
			c.Fair = false
		default:
			err = fmt.Errorf("weft: lock %q: algorithm %q: must be queue or central", name, cfg.Algorithm)
		}
	}
	return &Lock{p.locker(c, err)}
}

func (p *Proc) locker(c coord.Config, err error) locker {
	l := locker{p: p, name: c.Name, err: err}
	if l.err == nil {
		l.o, l.err = p.object(c)
	}
	return l
}

// object returns the engine's object for a configuration.
func (p *Proc) object(c coord.Config) (*coord.Object, error) {
	if len(c.Name) < 1 || len(c.Name) > MaxName {
		return nil, &ConfigError{Field: "length of the name", Value: len(c.Name), Min: 1, Max: MaxName}
	}
	o, err := p.node.Object(c)
	return o, err
}

func (l *locker) do(ctx context.Context, kind coord.Kind) (driver.Outcome, error) {
	if l.err != nil {
		return driver.Outcome{}, l.err
	}
	r, err := l.p.node.Coordinate(ctx, l.o, kind, 0)
	if err != nil {
		err = l.p.informed(l.o.ID, err)
	}
	return r, err
}

func (l *locker) lock(ctx context.Context, kind coord.Kind) (Grant, error) {
	r, err := l.do(ctx, kind)
	if err != nil {
		return Grant{}, err
	}
	return Grant{r.Epoch, r.Died, l.o.ID}, nil
}

func (l *locker) try(ctx context.Context, kind coord.Kind) (g Grant, ok bool, err error) {
	r, err := l.do(ctx, kind)
	if err == nil && !r.OK {
		l.p.node.Vain() // a program that tries again and again must let time pass in a simulation
	}
	if err != nil || !r.OK {
		return Grant{}, false, err
	}
	return Grant{r.Epoch, r.Died, l.o.ID}, true, nil
}

// Name returns the lock's name.
func (l *locker) Name() string { return l.name }

// Lock waits until this rank holds the lock. If ctx ends first this rank does not hold it: the
// error is a WaitError that says what is known of the holder.
func (l *Lock) Lock(ctx context.Context) (Grant, error) {
	if l.o != nil {
		if epoch, died, ok := l.p.node.Retake(l.o); ok {
			return Grant{epoch, died, l.o.ID}, nil
		}
	}
	return l.lock(ctx, coord.Lock)
}

// TryLock takes the lock if no rank holds it, and reports whether it did. It asks the lock's home,
// and the home asks the rank that had the lock last, which takes up to four messages. Ok is
// also false while the lock is being handed on or repaired.
func (l *Lock) TryLock(ctx context.Context) (g Grant, ok bool, err error) {
	return l.try(ctx, coord.TryLock)
}

// Unlock releases the lock. It does not wait.
func (l *Lock) Unlock() error {
	if l.o != nil && l.p.node.Free(l.o) {
		return nil
	}
	_, err := l.do(context.Background(), coord.Unlock)
	return err
}
