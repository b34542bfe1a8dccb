package weft

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A tally is a word at rank 0 that is read and written in two steps: only a lock
// makes sums of it come out right.
type tally struct{ r *Remote }

func newTally(ctx context.Context, p *Proc, name string, cfg *RegionConfig) (tally, error) {
	if p.Rank() == 0 {
		if _, err := p.OpenRegion(ctx, name, 64, cfg); err != nil {
			return tally{}, err
		}
	}
	r, err := p.AttachRegion(ctx, 0, name)
	return tally{r}, err
}

func (t tally) add(ctx context.Context, off int, n uint64) (sum uint64, err error) {
	b := make([]byte, 8)
	if err = t.r.Pull(ctx, b, off); err == nil {
		sum = binary.LittleEndian.Uint64(b) + n
		binary.LittleEndian.PutUint64(b, sum)
		err = t.r.Push(ctx, off, b)
	}
	return sum, err
}

// TestLocks: what a lock protects is changed by one rank at a time, epochs grow,
// and guarded regions refuse those without a lock.
func TestLocks(t *testing.T) {
	for _, cfg := range []LockConfig{{}, {Fair: true}, {Algorithm: "central"}} {
		t.Run(fmt.Sprintf("%+v", cfg), func(t *testing.T) {
			networks(t, 4, func(ctx context.Context, p *Proc) error { return contend(ctx, p, cfg) })
		})
	}
}

func contend(ctx context.Context, p *Proc, cfg LockConfig) error {
	const times = 10
	t, err := newTally(ctx, p, "tally", &RegionConfig{Lock: "L"})
	if err != nil {
		return err
	}
	if _, err := t.add(ctx, 0, 1); !errors.Is(err, ErrFenced) {
		return fmt.Errorf("without the lock: %v", err)
	}
	l := p.Lock("L", &cfg)
	var epoch uint64
	for i := range times {
		g, err := l.Lock(ctx)
		if err != nil {
			return err
		}
		if g.Epoch <= epoch || g.HolderDied {
			return fmt.Errorf("epoch %d after %d, %+v", g.Epoch, epoch, g)
		}
		epoch = g.Epoch
		under := tally{t.r.Under(g)}
		if _, err := under.add(ctx, 0, 1); err != nil {
			return err
		}
		sum, err := under.add(ctx, 8, epoch)
		if err != nil {
			return err
		}
		if i == 0 && sum < epoch {
			return fmt.Errorf("sum of epochs %d", sum)
		}
		if err := l.Unlock(); err != nil {
			return err
		}
	}
	b := p.Barrier("all have added", &BarrierConfig{Algorithm: "tree"})
	if err := b.Wait(ctx); err != nil {
		return err
	}
	g, err := l.Lock(ctx)
	if err != nil {
		return err
	}
	if sum, err := (tally{t.r.Under(g)}).add(ctx, 0, 0); err != nil || sum != times*uint64(p.Size()) {
		return fmt.Errorf("%d, %v", sum, err)
	}
	if err := l.Unlock(); err != nil {
		return err
	}
	return b.Wait(ctx)
}

// TestTryLock: a try gets a lock that nobody uses, wherever its token is, and
// does not get one that somebody uses.
func TestTryLock(t *testing.T) {
	for _, algorithm := range []LockAlgorithm{LockQueue, LockCentral} {
		t.Run(string(algorithm), func(t *testing.T) {
			networks(t, 3, func(ctx context.Context, p *Proc) error {
				l := p.Lock("L", &LockConfig{Algorithm: algorithm})
				b := p.Barrier("b", nil)
				for turn := range 3 * p.Size() {
					mine := turn%p.Size() == p.Rank()
					if mine {
						for ok := false; !ok; { // that it was given back may be on its way
							var err error
							if _, ok, err = l.TryLock(ctx); err != nil {
								return fmt.Errorf("turn %d: a free lock: %v", turn, err)
							}
						}
					}
					if err := b.Wait(ctx); err != nil {
						return err
					}
					if !mine {
						if _, ok, err := l.TryLock(ctx); err != nil || ok {
							return fmt.Errorf("turn %d: a lock that is held: %v, %v", turn, ok, err)
						}
					}
					if err := b.Wait(ctx); err != nil {
						return err
					}
					if mine {
						if err := l.Unlock(); err != nil {
							return err
						}
					}
					if err := b.Wait(ctx); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// TestGiveUpLock: a rank that gives up waiting does not hold up those behind it.
func TestGiveUpLock(t *testing.T) {
	for _, algorithm := range []LockAlgorithm{LockQueue, LockCentral} {
		t.Run(string(algorithm), func(t *testing.T) {
			networks(t, 3, func(ctx context.Context, p *Proc) error {
				l := p.Lock("L", &LockConfig{Algorithm: algorithm})
				b := p.Barrier("b", nil)
				if p.Rank() == 0 {
					if _, err := l.Lock(ctx); err != nil {
						return err
					}
				}
				if err := b.Wait(ctx); err != nil {
					return err
				}
				if p.Rank() == 1 {
					soon, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
					_, err := l.Lock(soon)
					cancel()
					var w *WaitError
					if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &w) {
						return fmt.Errorf("a lock that is held: %v", err)
					}
				}
				if err := b.Wait(ctx); err != nil {
					return err
				}
				if p.Rank() == 0 {
					if err := l.Unlock(); err != nil {
						return err
					}
				}
				for range 3 {
					if _, err := l.Lock(ctx); err != nil {
						return err
					}
					if err := l.Unlock(); err != nil {
						return err
					}
				}
				return b.Wait(ctx)
			})
		})
	}
}

// TestReaders: readers share a lock, writers do not.
func TestReaders(t *testing.T) {
	const rounds = 8
	everywhere(t, 4, func(ctx context.Context, p *Proc) error {
		l := p.RWLock("L")
		b := p.Barrier("b", nil)
		t, err := newTally(ctx, p, "tally", nil)
		if err != nil {
			return err
		}
		if _, err := l.RLock(ctx); err != nil {
			return err
		}
		if err := b.Wait(ctx); err != nil { // all hold it
			return err
		}
		if _, err := l.Lock(ctx); !errors.Is(err, ErrHeld) {
			return fmt.Errorf("a rank that holds the lock for reading wants to write: %v", err)
		}
		if err := l.Unlock(); err != nil {
			return err
		}
		for range rounds {
			if _, err := l.Lock(ctx); err != nil {
				return err
			}
			if _, err := t.add(ctx, 0, 1); err != nil {
				return err
			}
			if err := l.Unlock(); err != nil {
				return err
			}
			if _, err := l.RLock(ctx); err != nil {
				return err
			}
			if err := l.Unlock(); err != nil {
				return err
			}
		}
		if err := b.Wait(ctx); err != nil {
			return err
		}
		if sum, err := t.add(ctx, 0, 0); err != nil || sum != rounds*uint64(p.Size()) {
			return fmt.Errorf("%d, %v", sum, err)
		}
		return b.Wait(ctx)
	})
}

// TestMisuse: what cannot be is an error that says what, and nothing hangs.
func TestMisuse(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		var errs []error
		want := func(what string, err, target error) {
			if !errors.Is(err, target) {
				errs = append(errs, fmt.Errorf("%s: %v", what, err))
			}
		}
		b := p.Barrier("b", nil)
		l := p.Lock("mine"+strings.Repeat("!", p.Rank()), nil)
		want("unlock", l.Unlock(), ErrNotHeld)
		_, err := l.Lock(ctx)
		want("lock", err, nil)
		_, err = l.Lock(ctx)
		want("lock twice", err, ErrHeld)
		want("unlock", l.Unlock(), nil)
		want("unlock twice", l.Unlock(), ErrNotHeld)
		c := p.Lock("central", &LockConfig{Algorithm: "central"})
		want("unlock", c.Unlock(), ErrNotHeld)
		_, err = p.Lock("strange", &LockConfig{Algorithm: "strange"}).Lock(ctx)
		if err == nil {
			errs = append(errs, errors.New("a strange algorithm"))
		}
		_, err = p.Lock("", nil).Lock(ctx)
		var ce *ConfigError
		if !errors.As(err, &ce) {
			errs = append(errs, fmt.Errorf("no name: %v", err))
		}
		if _, err := p.Lock("kind", &LockConfig{Fair: p.Rank() == 1}).Lock(ctx); err == nil {
			want("barrier", b.Wait(ctx), nil)
		} else {
			want("ranks that disagree", err, ErrConfigMismatch)
			want("barrier", b.Wait(ctx), nil)
		}
		want("barrier", b.Wait(ctx), nil)
		if err := p.Semaphore("s", 1, nil).Acquire(ctx, 0); !errors.As(err, &ce) {
			errs = append(errs, fmt.Errorf("no permits: %v", err))
		}
		_, err = p.Barrier("r", &BarrierConfig{Algorithm: "rbcq1"}).Sync(ctx, 0)
		want("a distance of 0", err, ErrDistance)
		want("a stranger", p.Barrier("m", &BarrierConfig{Members: []int{1 - p.Rank()}}).Wait(ctx), ErrNotMember)
		want("no such rank", p.Barrier("n", &BarrierConfig{Members: []int{0, 1, 2}}).Wait(ctx), ErrRank)
		return errors.Join(errs...)
	})
}

// TestLeaveLock: a rank that had the lock last gives its token back when it leaves,
// and nobody is told of a death.
func TestLeaveLock(t *testing.T) {
	for _, algorithm := range []LockAlgorithm{LockQueue, LockCentral} {
		t.Run(string(algorithm), func(t *testing.T) {
			networks(t, 3, func(ctx context.Context, p *Proc) error {
				l := p.Lock("M", &LockConfig{Algorithm: algorithm}) // whose home is not rank 2
				b := p.Barrier("b", nil)
				if p.Rank() == 2 {
					for range 2 {
						if _, err := l.Lock(ctx); err != nil {
							return err
						}
						if err := l.Unlock(); err != nil {
							return err
						}
					}
				}
				if err := b.Wait(ctx); err != nil {
					return err
				}
				if p.Rank() == 2 {
					return p.Close()
				}
				g, err := l.Lock(ctx)
				if err != nil || g.HolderDied || g.Epoch < 3 {
					return fmt.Errorf("%+v, %v", g, err)
				}
				if err := l.Unlock(); err != nil {
					return err
				}
				return p.Barrier("rest", &BarrierConfig{Members: []int{0, 1}}).Wait(ctx)
			})
		})
	}
}
