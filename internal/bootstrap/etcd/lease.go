package etcd

import (
	"context"
	"fmt"
	"time"
)

// A Lease is what keys are under that go away with this process.
type Lease struct {
	c    *Client
	id   number
	stop context.CancelFunc
	done chan struct{}
}

// Grant returns a lease that is kept for as long as the process lives, and for ttl longer.
func (c *Client) Grant(ctx context.Context, ttl time.Duration) (*Lease, error) {
	var reply struct {
		ID number `json:"ID"`
	}
	err := c.call(ctx, "/v3/lease/grant", map[string]any{"TTL": number(ttl / time.Second)}, &reply)
	if err == nil && reply.ID == 0 {
		err = fmt.Errorf("%w: a lease without a number", ErrReply)
	}
	if err != nil {
		return nil, err
	}
	l := &Lease{c: c, id: reply.ID, done: make(chan struct{})}
	keeping, stop := context.WithCancel(context.Background())
	l.stop = stop
	go l.keep(keeping, ttl/3)
	return l, nil
}

// keep keeps the lease. A store that is away for a while is asked again: if the lease has ended
// meanwhile, nobody needs its keys any more.
func (l *Lease) keep(ctx context.Context, each time.Duration) {
	defer close(l.done)
	tick := time.NewTicker(each)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			var reply struct{}
			_ = l.c.call(ctx, "/v3/lease/keepalive", map[string]any{"ID": l.id}, &reply)
		case <-ctx.Done():
			return
		}
	}
}

// Put puts a value under a key that does not exist, and reports false if it does.
func (l *Lease) Put(ctx context.Context, key string, value []byte) (bool, error) {
	var reply struct {
		Succeeded bool `json:"succeeded"`
	}
	err := l.c.call(ctx, "/v3/kv/txn", map[string]any{
		"compare": []any{map[string]any{"target": "CREATE", "key": []byte(key), "create_revision": "0"}},
		"success": []any{map[string]any{"requestPut": map[string]any{"key": []byte(key), "value": value, "lease": l.id}}},
	}, &reply)
	return reply.Succeeded, err
}

// Revoke ends the lease, and takes its keys away.
func (l *Lease) Revoke(ctx context.Context) error {
	l.stop()
	<-l.done
	var reply struct{}
	return l.c.call(ctx, "/v3/lease/revoke", map[string]any{"ID": l.id}, &reply)
}
