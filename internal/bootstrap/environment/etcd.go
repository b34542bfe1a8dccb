package environment

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"weft/internal/bootstrap/rendezvous"
)

// A Meeting is a place outside the job where its ranks meet: rank 0 publishes there how it is found, and a process that
// has not been told its rank claims one. What a process puts there goes away with it.
type Meeting interface {
	Hold(ctx context.Context) error
	Claim(ctx context.Context, size int, host string) (rank int, err error)
	Publish(ctx context.Context, text string) error
	Find(ctx context.Context) (text string, err error)
	Leave()
}

// openMeeting opens a place in etcd, for ranks with a secret. It is nil in a program without package weft/etcd.
var openMeeting func(members []string, name string, secret []byte) (Meeting, error)

// RegisterEtcd makes etcd://… known. Package weft/etcd calls it, so that only programs that ask for etcd link its
// client and an HTTP library.
func RegisterEtcd(open func(members []string, name string, secret []byte) (Meeting, error)) {
	openMeeting = open
}

// etcdPort is that of etcd unless the address has one.
const etcdPort = 2379

// newMeeting reads etcd://HOST:PORT,HOST:PORT/PREFIX. Jobs of which the launcher says different
// labels meet at different places.
func newMeeting(text, label string, secret []byte) (Meeting, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("weft: %s=%q: must be etcd://HOST:PORT/PREFIX, with commas between several HOST:PORT",
			EnvRendezvous, text)
	}
	if openMeeting == nil {
		return nil, fmt.Errorf("weft: %s=%q: this program does not speak etcd; it must import _ %q", EnvRendezvous, text,
			"weft/etcd")
	}
	var members []string
	for m := range strings.SplitSeq(u.Host, ",") {
		host, port, err := splitPort(m, etcdPort)
		if err != nil {
			return nil, fmt.Errorf("weft: %s=%q: %s: %w", EnvRendezvous, text, m, err)
		}
		members = append(members, net.JoinHostPort(host, strconv.Itoa(port)))
	}
	name := strings.Trim(u.Path, "/")
	if label != "" {
		name += "/" + digest(label)
	}
	return openMeeting(members, name, secret)
}

// joinEtcd joins a job whose ranks meet in etcd.
func (j *joining) joinEtcd(ctx context.Context) (_ *Source, err error) {
	m, err := newMeeting(j.plan.Etcd, j.plan.Label, j.plan.key())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.Leave()
		}
	}()
	err = j.persist(ctx, func() error { return m.Hold(ctx) })
	if err == nil && j.plan.Rank == Unclaimed {
		err = j.persist(ctx, func() (err error) {
			j.plan.Rank, err = m.Claim(ctx, j.plan.Size, j.host.ID)
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
		text := j.beacon(store).String()
		if err = j.persist(ctx, func() error { return m.Publish(ctx, text) }); err != nil {
			store.Close()
			return nil, err
		}
	}
	s, err := j.meet(ctx, store, func(ctx context.Context) ([]string, error) {
		text, err := m.Find(ctx)
		if err != nil {
			return nil, err
		}
		b, err := parseBeacon(text)
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
