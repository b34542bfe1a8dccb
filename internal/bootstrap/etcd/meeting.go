package etcd

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"weft/failure"
)

// lease is how long what a process has put into etcd outlives it.
const lease = 10 * time.Second

// A Meeting is the place in etcd where the ranks of a job meet: rank 0 puts there how it is found,
// and a process that has not been told its rank takes one. Values are sealed with the job's
// secret, and keys are under the leases of the processes that put them.
type Meeting struct {
	c      *Client
	held   *Lease
	prefix string // of its keys; it ends in a slash
	aead   cipher.AEAD
}

// NewMeeting returns the place with a name, in the cluster of these members.
func NewMeeting(members []string, name string, secret []byte) (*Meeting, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "weft etcd", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &Meeting{c: New(members), prefix: "/weft/" + name + "/", aead: aead}, nil
}

// Hold takes the lease that everything is under that this process puts there.
func (m *Meeting) Hold(ctx context.Context) (err error) {
	m.held, err = m.c.Grant(ctx, lease)
	return err
}

// seal encrypts a value for the place where it lies.
func (m *Meeting) seal(key, value string) []byte {
	return m.aead.Seal(nil, nil, []byte(value), []byte(key))
}

// open decrypts what a rank has put into etcd under a key. The key is authenticated with it, so a value cannot be
// moved to another key. A value that does not fit means another secret.
func (m *Meeting) open(key string, sealed []byte) (string, error) {
	value, err := m.aead.Open(nil, nil, sealed, []byte(key))
	if err != nil {
		return "", failure.ErrSecret
	}
	return string(value), nil
}

func (m *Meeting) storeKey() string { return m.prefix + "store/0" }

func (m *Meeting) rankKey(rank int) string { return m.prefix + "rank/" + strconv.Itoa(rank) }

// Claim takes a rank that nobody has. While all are taken it waits: an earlier job may be about to
// end. Ranks are tried in no order, so that many processes seldom want the same.
func (m *Meeting) Claim(ctx context.Context, size int, host string) (rank int, err error) {
	for {
		keys, revision, err := m.c.List(ctx, m.prefix+"rank/")
		if err != nil {
			return 0, err
		}
		var free []int
		for r := range size {
			if !slices.Contains(keys, m.rankKey(r)) {
				free = append(free, r)
			}
		}
		if len(free) == 0 {
			if err := m.wait(ctx, "rank/", revision); err != nil {
				return 0, fmt.Errorf("weft: all %d ranks are taken, by too many processes or by an earlier job: %w", size, err)
			}
			continue
		}
		r := free[anyOf(len(free))]
		if ok, err := m.held.Put(ctx, m.rankKey(r), m.seal(m.rankKey(r), host)); err != nil || ok {
			return r, err
		}
	}
}

// anyOf returns a number from 0 to n-1.
func anyOf(n int) int {
	v, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		return 0 // as good as any
	}
	return int(v.Int64())
}

// slice is for how long a wait for a change lasts: then it is time to say what for.
const slice = 2 * time.Second

// wait waits for a change, until ctx ends or for a moment.
func (m *Meeting) wait(ctx context.Context, what string, revision int64) error {
	soon, cancel := context.WithTimeout(ctx, slice)
	defer cancel()
	return m.c.Wait(soon, m.prefix+what, revision)
}

// Publish says how rank 0 is found. What another rank 0 has said must go away first.
func (m *Meeting) Publish(ctx context.Context, text string) error {
	key := m.storeKey()
	ok, err := m.held.Put(ctx, key, m.seal(key, text))
	if err != nil || ok {
		return err
	}
	_, found, revision, err := m.c.Get(ctx, key)
	if err == nil && found {
		err = m.wait(ctx, "store/", revision)
	}
	return cmp.Or(err, ErrTaken)
}

// ErrTaken means that a job of the same label has not ended, or has ended less than a lease ago.
var ErrTaken = errors.New("weft: another job's rank 0 is still at that place of etcd")

// Find returns how rank 0 is found, or waits a moment for it.
func (m *Meeting) Find(ctx context.Context) (text string, err error) {
	sealed, found, revision, err := m.c.Get(ctx, m.storeKey())
	if err == nil && !found {
		_ = m.wait(ctx, "store/", revision) // it is looked at again anyhow
		sealed, found, _, err = m.c.Get(ctx, m.storeKey())
	}
	if err == nil && !found {
		err = fmt.Errorf("nobody has said at %s in etcd where it is", m.storeKey())
	}
	if err != nil {
		return "", err
	}
	return m.open(m.storeKey(), sealed)
}

// Leave takes away what this process has put into etcd.
func (m *Meeting) Leave() {
	if m.held != nil {
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		_ = m.held.Revoke(ctx) // else it goes away by itself
	}
	m.c.Close()
}

// farewell is how long a process that leaves waits for etcd.
const farewell = time.Second
