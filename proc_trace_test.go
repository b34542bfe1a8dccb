package weft

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"weft/internal/amt"
	"weft/internal/inside"
	"weft/internal/join"
)

// Whatever way the public API has of sending, it is counted, once, on every
// transport and by every shortcut.
func TestEverythingSentIsCounted(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *Proc) error {
		p.member.TraceInto(new(bytes.Buffer))
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		w, err := p.OpenRegion(ctx, "w", 1<<16, nil)
		if err != nil {
			return err
		}
		r, err := w.At(ctx, 1-p.Rank())
		if err != nil {
			return err
		}
		const long = 100000
		if p.Rank() == 0 {
			err = sendEverything(ctx, q, r, make([]byte, long))
		} else {
			if _, err := p.OpenMailbox("box", nil); err != nil {
				return err
			}
			for range 7 {
				m, err := q.Recv(ctx)
				if err != nil {
					return err
				}
				m.Release()
			}
			err = q.Send(ctx, 0, nil)
		}
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			if _, _, err := q.RecvInto(ctx, nil); err != nil {
				return err
			}
		}
		want := []amt.Row{{To: 0, Kind: amt.Send, Count: amt.Count{Messages: 1}}}
		if p.Rank() == 0 {
			want = []amt.Row{
				{To: 1, Kind: amt.Send, Count: amt.Count{Messages: 6, Bytes: 10 + 20 + 30 + 40 + 2*long, Largest: long}},
				{To: 1, Kind: amt.IPush, Count: amt.Count{Messages: 2, Bytes: 90, Largest: 60}},
				{To: 1, Kind: amt.Push, Count: amt.Count{Messages: 2, Bytes: 150, Largest: 100}},
				{To: 1, Kind: amt.Put, Count: amt.Count{Messages: 1, Bytes: 8, Largest: 8}},
				{To: 1, Kind: amt.Pull, Count: amt.Count{Messages: 2, Bytes: 150, Largest: 100}},
				{To: 1, Kind: amt.Atomic, Count: amt.Count{Messages: 2, Bytes: 16, Largest: 8}},
				{To: 1, Kind: amt.Collective, Count: amt.Count{Messages: 1, Bytes: 5, Largest: 5}},
			}
		}
		if have := p.member.Trace.Part(); have.Rank != p.Rank() || have.Size != 2 || !reflect.DeepEqual(have.Rows, want) {
			return fmt.Errorf("rank %d: counted %+v", p.Rank(), have)
		}
		return nil
	})
}

// sendEverything sends 7 messages, of which the last is part of a collective
// operation, and accesses the region in all ways.
func sendEverything(ctx context.Context, q *Port, r *Remote, b []byte) error {
	steps := []func() error{
		func() error { return q.Send(ctx, 1, b[:10]) },
		func() error { return q.Send(ctx, 1, b) },
		func() error {
			for {
				if err := q.TrySend(1, b[:20]); err != ErrWouldBlock {
					return err
				}
				if err := q.Flush(ctx); err != nil {
					return err
				}
			}
		},
		func() error { return started(ctx)(q.StartSend(1, b[:30])) },
		func() error {
			for _, n := range []int{40, len(b)} {
				d, err := q.Reserve(ctx, 1, n)
				if err != nil {
					return err
				}
				if err := d.Commit(ctx); err != nil {
					return err
				}
			}
			return nil
		},
		func() error { return r.Push(ctx, 0, b[:50]) },
		func() error { return started(ctx)(r.StartPush(0, b[:100])) },
		func() error { return r.Put(0, b[:8]) },
		func() error { return r.Pull(ctx, b[:50], 0) },
		func() error { return started(ctx)(r.StartPull(b[:100], 0)) },
		func() error { _, err := r.FetchAdd(ctx, 0, 1); return err },
		func() error { return started(ctx)(r.StartSwap(0, 1)) },
		func() error {
			s, err := q.p.AttachMailbox(ctx, 1, "box")
			if err != nil {
				return err
			}
			return errors.Join(s.Push(ctx, b[:30]), started(ctx)(s.StartPushTagged(0, b[:60])))
		},
		func() error {
			return inside.Collective(q).(*Port).Send(ctx, 1, b[:5])
		},
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// started waits for what has been started.
func started(ctx context.Context) func(o *Op, err error) error {
	return func(o *Op, err error) error {
		if err != nil {
			return err
		}
		return o.Wait(ctx)
	}
}

// A simulated job leaves one file with the parts of all ranks.
func TestTraceOfSimulation(t *testing.T) {
	var b bytes.Buffer
	if _, err := Simulate(t.Context(), Cluster{Ranks: 5, Trace: &b}, ring(3)); err != nil {
		t.Fatal(err)
	}
	ranks := 0
	for d := json.NewDecoder(&b); d.More(); ranks++ {
		var head amt.Head
		var rows [2]amt.Row
		if err := errors.Join(d.Decode(&head), d.Decode(&rows[0]), d.Decode(&rows[1])); err != nil {
			t.Fatal(err)
		}
		next := (ranks + 1) % 5
		if head.Rank != ranks || head.Size != 5 || head.Rows != 2 || rows != [2]amt.Row{
			{To: next, Kind: amt.Send, Count: amt.Count{Messages: 3}},
			{To: next, Kind: amt.Push, Count: amt.Count{Messages: 3, Bytes: 24, Largest: 8}},
		} {
			t.Errorf("%+v %+v", head, rows)
		}
		for range head.Events {
			if err := d.Decode(&amt.Event{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ranks != 5 {
		t.Errorf("parts of %d ranks", ranks)
	}
}

// The part of a rank is written when it leaves; one of an earlier run is not left
// where the rank dies.
func TestTraceFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(name+".0", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(join.EnvTrace, name)
	p, err := Join(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name + ".0"); err != nil || len(b) != 0 {
		t.Errorf("%q, %v", b, err)
	}
	q, err := p.OpenPort(1, nil)
	if err == nil {
		err = q.Send(t.Context(), 0, []byte("hello"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name + ".0")
	if err != nil || !strings.Contains(string(b), `{"to":0,"kind":"send","messages":1,"bytes":5,"largest":5}`) {
		t.Errorf("%s, %v", b, err)
	}
	t.Setenv(join.EnvTrace, filepath.Join(name, "no", "directory"))
	if _, err := Join(t.Context(), nil); err == nil || !strings.Contains(err.Error(), join.EnvTrace) {
		t.Error(err)
	}
}
