package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// A Client speaks with the members of one cluster. Its methods may be called by any goroutine.
type Client struct {
	members []string // host:port
	http    http.Client
}

// New returns a client of a cluster, whose members are tried in turn.
func New(members []string) *Client {
	return &Client{members: members,
		http: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute}}}
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// maxReply bounds what is read of a reply.
const maxReply = 8 << 20

// eachTry is how long one member may take for an answer.
const eachTry = 5 * time.Second

// ErrReply reports that something answers which is no etcd, or refuses.
var ErrReply = errors.New("weft: etcd: bad reply")

// call sends a request to the first member that answers.
func (c *Client) call(ctx context.Context, path string, request, reply any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	for _, m := range c.members {
		if err = c.ask(ctx, m, path, body, reply); err == nil || errors.Is(err, ErrReply) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// ask sends a request to one member and decodes the reply, of which it reads at most maxReply bytes.
func (c *Client) ask(ctx context.Context, member, path string, body []byte, reply any) error {
	ctx, cancel := context.WithTimeout(ctx, eachTry)
	defer cancel()
	r, err := c.post(ctx, member, path, body)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := json.NewDecoder(io.LimitReader(r, maxReply)).Decode(reply); err != nil {
		return fmt.Errorf("%w of %s to %s: %v", ErrReply, member, path, err)
	}
	return nil
}

// post returns the body of the answer.
func (c *Client) post(ctx context.Context, member, path string, body []byte) (io.ReadCloser, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+member+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("weft: etcd: %w", err)
	}
	q.Header.Set("Content-Type", "application/json")
	r, err := c.http.Do(q)
	if err != nil {
		return nil, fmt.Errorf("weft: etcd: %w", err)
	}
	if r.StatusCode != http.StatusOK {
		defer r.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(r.Body, 300)) // what there is of it
		return nil, fmt.Errorf("%w of %s to %s: %s: %s", ErrReply, member, path, r.Status, bytes.TrimSpace(text))
	}
	return r.Body, nil
}

// A number travels as text.
type number int64

func (n number) MarshalJSON() ([]byte, error) { return json.Marshal(strconv.FormatInt(int64(n), 10)) }

// UnmarshalJSON reads a number with or without quotes: etcd's gateway writes 64-bit integers as strings.
func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	*n = number(v)
	return err
}

type header struct {
	Revision number `json:"revision"`
}

type pair struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
}

// Get returns the value of a key, if there is one, and the revision of the store at which it is so.
func (c *Client) Get(ctx context.Context, key string) (value []byte, found bool, revision int64, err error) {
	var reply struct {
		Header header `json:"header"`
		Kvs    []pair `json:"kvs"`
	}
	err = c.call(ctx, "/v3/kv/range", map[string]any{"key": []byte(key)}, &reply)
	if err != nil || len(reply.Kvs) == 0 {
		return nil, false, int64(reply.Header.Revision), err
	}
	return reply.Kvs[0].Value, true, int64(reply.Header.Revision), nil
}

// List returns the keys that begin with a prefix, and the revision of the store.
func (c *Client) List(ctx context.Context, prefix string) (keys []string, revision int64, err error) {
	var reply struct {
		Header header `json:"header"`
		Kvs    []pair `json:"kvs"`
	}
	err = c.call(ctx, "/v3/kv/range", map[string]any{"key": []byte(prefix), "range_end": after(prefix), "keys_only": true},
		&reply)
	for _, kv := range reply.Kvs {
		keys = append(keys, string(kv.Key))
	}
	return keys, int64(reply.Header.Revision), err
}

// after returns the end of the keys that begin with a prefix.
func after(prefix string) []byte {
	b := []byte(prefix)
	b[len(b)-1]++ // prefixes end in a slash
	return b
}

// Wait returns when a key that begins with a prefix has changed after a revision.
func (c *Client) Wait(ctx context.Context, prefix string, revision int64) error {
	body, err := json.Marshal(map[string]any{"create_request": map[string]any{
		"key": []byte(prefix), "range_end": after(prefix), "start_revision": number(revision + 1),
	}})
	if err != nil {
		return err
	}
	for _, m := range c.members {
		var r io.ReadCloser
		if r, err = c.post(ctx, m, "/v3/watch", body); err == nil {
			defer r.Close()
			return awaitEvent(r)
		}
	}
	return err
}

// awaitEvent reads the answers to a watch until one is an event, or the watch is cancelled, as
// it is when the revision is too old: then it is time to look, too.
func awaitEvent(r io.Reader) error {
	in := json.NewDecoder(io.LimitReader(r, maxReply))
	for {
		var reply struct {
			Result struct {
				Canceled bool              `json:"canceled"`
				Events   []json.RawMessage `json:"events"`
			} `json:"result"`
		}
		if err := in.Decode(&reply); err != nil {
			return fmt.Errorf("%w to a watch: %w", ErrReply, err)
		}
		if len(reply.Result.Events) > 0 || reply.Result.Canceled {
			return nil
		}
	}
}
