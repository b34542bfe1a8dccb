package environment

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
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"weft/internal/bootstrap/etcd"
	"weft/internal/bootstrap/rendezvous"
)

// lease is how long what a process has put into etcd outlives it.
const lease = 10 * time.Second

// A meeting is the place in etcd where the ranks of a job meet: rank 0 puts there how it is found,
// and a process that has not been told its rank takes one. Values are sealed with the job's
// secret, and keys are under the leases of the processes that put them.
type meeting struct {
	c      *etcd.Client
	held   *etcd.Lease
	prefix string // of its keys; it ends in a slash
	aead   cipher.AEAD
}

// newMeeting reads etcd://HOST:PORT,HOST:PORT/PREFIX. Jobs of which the launcher says different
// labels meet at different places.
func newMeeting(text, label string, secret []byte) (*meeting, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("weft: %s=%q: must be etcd://HOST:PORT/PREFIX, with commas between several HOST:PORT",
			EnvRendezvous, text)
	}
	var members []string
	for m := range strings.SplitSeq(u.Host, ",") {
		host, port, err := splitPort(m, 2379)
		if err != nil {
			return nil, fmt.Errorf("weft: %s=%q: %s: %w", EnvRendezvous, text, m, err)
		}
		members = append(members, net.JoinHostPort(host, strconv.Itoa(port)))
	}
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
	prefix := "/weft/" + strings.Trim(u.Path, "/") + "/"
	if label != "" {
		prefix += digest(label) + "/"
	}
	return &meeting{c: etcd.New(members), prefix: prefix, aead: aead}, nil
}

// seal encrypts a value for the place where it lies.
func (m *meeting) seal(key, value string) []byte {
	return m.aead.Seal(nil, nil, []byte(value), []byte(key))
}

// open decrypts what a rank has put into etcd under a key. The key is authenticated with it, so a value cannot be
// moved to another key. A value that does not fit means another secret.
func (m *meeting) open(key string, sealed []byte) (string, error) {
	value, err := m.aead.Open(nil, nil, sealed, []byte(key))
	if err != nil {
		return "", rendezvous.ErrSecret
	}
	return string(value), nil
}

func (m *meeting) storeKey() string { return m.prefix + "store/0" }

func (m *meeting) rankKey(rank int) string { return m.prefix + "rank/" + strconv.Itoa(rank) }

// claim takes a rank that nobody has. While all are taken it waits: an earlier job may be about to
// end. Ranks are tried in no order, so that many processes seldom want the same.
func (m *meeting) claim(ctx context.Context, size int, host string) (rank int, err error) {
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
func (m *meeting) wait(ctx context.Context, what string, revision int64) error {
	soon, cancel := context.WithTimeout(ctx, slice)
	defer cancel()
	return m.c.Wait(soon, m.prefix+what, revision)
}

// publish says how rank 0 is found. What another rank 0 has said must go away first.
func (m *meeting) publish(ctx context.Context, b beacon) error {
	key := m.storeKey()
	ok, err := m.held.Put(ctx, key, m.seal(key, b.String()))
	if err != nil || ok {
		return err
	}
	_, found, revision, err := m.c.Get(ctx, key)
	if err == nil && found {
		err = m.wait(ctx, "store/", revision)
	}
	return cmp.Or(err, errTaken)
}

// errTaken means that a job of the same label has not ended, or has ended less than a lease ago.
var errTaken = errors.New("weft: another job's rank 0 is still at that place of etcd")

// find returns how rank 0 is found, or waits a moment for it.
func (m *meeting) find(ctx context.Context) (b beacon, err error) {
	sealed, found, revision, err := m.c.Get(ctx, m.storeKey())
	if err == nil && !found {
		_ = m.wait(ctx, "store/", revision) // it is looked at again anyhow
		sealed, found, _, err = m.c.Get(ctx, m.storeKey())
	}
	if err == nil && !found {
		err = fmt.Errorf("nobody has said at %s in etcd where it is", m.storeKey())
	}
	if err != nil {
		return b, err
	}
	text, err := m.open(m.storeKey(), sealed)
	if err != nil {
		return b, err
	}
	return parseBeacon(text)
}

// leave takes away what this process has put into etcd.
func (m *meeting) leave() {
	if m.held != nil {
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		_ = m.held.Revoke(ctx) // else it goes away by itself
	}
	m.c.Close()
}

// joinEtcd joins a job whose ranks meet in etcd.
func (j *joining) joinEtcd(ctx context.Context) (_ *Source, err error) {
	m, err := newMeeting(j.plan.Etcd, j.plan.Label, j.plan.key())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.leave()
		}
	}()
	err = j.persist(ctx, func() (err error) {
		m.held, err = m.c.Grant(ctx, lease)
		return err
	})
	if err == nil && j.plan.Rank == Unclaimed {
		err = j.persist(ctx, func() (err error) {
			j.plan.Rank, err = m.claim(ctx, j.plan.Size, j.host.ID)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	var store *rendezvous.Store
	if j.plan.Rank == 0 {
		if store, err = j.serve(ctx); err != nil {
			return nil, err
		}
		b := j.beacon(store)
		if err = j.persist(ctx, func() error { return m.publish(ctx, b) }); err != nil {
			store.Close()
			return nil, err
		}
	}
	s, err := j.meet(ctx, store, func(ctx context.Context) ([]string, error) {
		b, err := m.find(ctx)
		return b.where(j.host.ID), err
	})
	if err != nil {
		return nil, err
	}
	s.meeting = m
	return s, nil
}

// persist tries until f succeeds or ctx ends, and tells the user after ten seconds what keeps it.
func (j *joining) persist(ctx context.Context, f func() error) error {
	began := time.Now()
	told := ""
	for {
		err := f()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if text := err.Error(); time.Since(began) > noticeAfter && text != told {
			told = text
			j.notice("waiting for etcd: " + strings.TrimPrefix(text, "weft: "))
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// noticeAfter is after how much time the user is told what keeps this process.
const noticeAfter = 10 * time.Second
