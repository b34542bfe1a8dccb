package record

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"weft/internal/engine"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/monotime"
)

// record makes two engines send each other messages over a network that loses
// every seventh packet, and returns the recording of the first.
func record(t *testing.T, guard link.Guard) (tape []byte, last uint64) {
	var file bytes.Buffer
	var engines [2]*engine.Engine
	cfg := func(rank int) engine.Config {
		n := uint64(rank)
		return engine.Config{
			Rank: rank, Size: 2, Job: 1, Secret: []byte("secret"), Incarnation: uint64(rank + 1),
			Link: link.Config{Window: 8, Liveness: -1}, Rand: func() uint64 { n++; return n },
		}
	}
	eng, rec := New(&file, cfg(0))
	engines[0] = eng
	engines[1] = engine.New(cfg(1))
	now := monotime.Time(1)
	path := engine.Path{MTU: 1500, Lossy: true, Guard: guard, Incarnation: 2}
	rec.Connect(now, 1, path)
	engines[0].Connect(now, 1, path)
	engines[1].Connect(now, 0, engine.Path{MTU: 1500, Lossy: true, Guard: guard, Incarnation: 1})
	rec.Open(1, msg.Config{})
	p, err := engines[0].Msg.Open(1, msg.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rec.Opened(p)
	q, err := engines[1].Msg.Open(1, msg.Config{})
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	move := func(from int) {
		var out [4]link.Packet
		for {
			_, n, _ := engines[from].Output(now, out[:])
			if from == 0 {
				rec.Note(Event{Do: "output", Now: now, Rank: 1, N: n})
			}
			if n == 0 {
				return
			}
			for _, pkt := range out[:n] {
				if sent++; sent%7 == 0 {
					continue
				}
				b := append(bytes.Clone(pkt.Header), pkt.Payload...)
				if from == 1 && sent%11 == 0 { // a forger is there, too
					forged := bytes.Clone(b)
					forged[len(forged)-1] ^= 1
					rec.Recv(now, engine.Trusted, forged)
					engines[0].Recv(now, engine.Trusted, forged)
				}
				if from == 1 {
					rec.Recv(now, engine.Trusted, b)
				}
				engines[1-from].Recv(now, engine.Trusted, b)
			}
			if from == 0 {
				rec.Note(Event{Do: "taken", Now: now, Rank: 1, N: n, M: n})
			}
			engines[from].Taken(now, 1-from, n, n, out[:])
		}
	}
	for i := range 600 {
		if i < 500 {
			rec.Port("give", p, 1, i)
			p.Give(1, make([]byte, i))
			q.Give(0, make([]byte, 10))
		}
		now = now.Add(time.Millisecond)
		rec.Note(Event{Do: "advance", Now: now})
		engines[0].Advance(now)
		engines[1].Advance(now)
		move(0)
		move(1)
		b, _ := p.Next(msg.Any)
		rec.Lend("next", p, nil, b, msg.Any, 0)
		if b != nil {
			rec.Block("release", p, b, 0)
			p.Release(b)
		}
		if b, _ := q.Next(msg.Any); b != nil {
			q.Release(b)
		}
	}
	rec.End()
	if rec.Err() != nil {
		t.Fatal(rec.Err())
	}
	return file.Bytes(), eng.Fingerprint()
}

// TestReplay: a recording leads to the same state, by way of the same ones.
func TestReplay(t *testing.T) {
	for _, guard := range []link.Guard{link.Checked, link.Tagged, link.Encrypted} {
		t.Run(guard.String(), func(t *testing.T) { replay(t, guard) })
	}
}

func replay(t *testing.T, guard link.Guard) {
	tape, last := record(t, guard)
	seen := 0
	r, err := Replay(bytes.NewReader(tape), func(Event) { seen++ })
	if err != nil {
		t.Fatal(err)
	}
	if r.Hash != last || r.States < 3 || seen != r.Events {
		t.Errorf("%+v, want the hash %#x", r, last)
	}
	if s := r.Engine.Stats(); s.Link.Resent == 0 || s.Msg.Received == 0 || s.Forged == 0 {
		t.Errorf("nothing much has happened: %+v", s)
	}
}

// TestSecretIsNotRecorded: neither the job's secret nor anything that was made with it is
// in a recording.
func TestSecretIsNotRecorded(t *testing.T) {
	tape, _ := record(t, link.Tagged)
	if bytes.Contains(tape, []byte(base64.StdEncoding.EncodeToString([]byte("secret")))) {
		t.Error("it is in the recording")
	}
	jobs := link.NewSelf(1, 0, 1, []byte("secret"))
	var recordings *link.Self
	good := 0
	if _, err := Replay(bytes.NewReader(tape), func(e Event) {
		switch e.Do {
		case "engine":
			recordings = link.NewSelf(1, 0, 1, e.Engine.Secret)
		case "recv":
			if _, _, err := jobs.Prove(e.Bytes); err == nil {
				t.Errorf("a packet has its own tag: %x", e.Bytes)
			}
			if _, _, err := recordings.Prove(e.Bytes); err == nil {
				good++
			}
		}
	}); err != nil || good < 100 {
		t.Errorf("%d packets are good: %v", good, err)
	}
}

// TestDivergence: it is noticed when a packet or a message is missing.
func TestDivergence(t *testing.T) {
	tape, _ := record(t, link.Tagged)
	lines := strings.SplitAfter(string(tape), "\n")
	for i := 20; i < len(lines)-2; i += len(lines) / 10 {
		for !strings.Contains(lines[i], `"recv"`) && !strings.Contains(lines[i], `"give"`) {
			i++
		}
		without := strings.Join(append(append([]string{}, lines[:i]...), lines[i+1:]...), "")
		if _, err := Replay(strings.NewReader(without), nil); err == nil {
			t.Errorf("without event %d, %.80s: nothing is noticed", i, lines[i])
		}
	}
	changed := strings.Replace(string(tape), `{"Do":"give","Rank":1,"N":77,`, `{"Do":"give","Rank":1,"N":78,`, 1)
	if changed == string(tape) {
		t.Fatal("the event is not there")
	}
	if _, err := Replay(strings.NewReader(changed), nil); err != nil && !errors.Is(err, ErrDiverged) {
		t.Error(err)
	}
}

// TestCut: a recording that ends in the middle of an event is played up to there.
func TestCut(t *testing.T) {
	tape, _ := record(t, link.Tagged)
	whole, err := Replay(bytes.NewReader(tape), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Replay(bytes.NewReader(tape[:len(tape)/2]), nil)
	if err != nil || r.Events == 0 || r.Events >= whole.Events {
		t.Errorf("%d events, %v", r.Events, err)
	}
}

// FuzzReplay: no recording makes the player itself fail.
func FuzzReplay(f *testing.F) {
	for _, text := range []string{
		"", "{}", `{"Do":"engine","Engine":{"Rank":0,"Size":2}}` + "\n" + `{"Do":"release","Port":1,"Block":3}`,
		`{"Do":"engine","Engine":{"Rank":0,"Size":2}}` + "\n" + `{"Do":"finished","Op":3}`,
		`{"Do":"engine","Engine":{"Rank":0,"Size":2}}` + "\n" + `{"Do":"recv","Rank":-1,"Bytes":"AAAA"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if bytes.Contains(b, []byte(`"N":`)) || bytes.Contains(b, []byte(`"Len"`)) || bytes.Contains(b, []byte(`"Kind"`)) {
			return // sizes are believed: a recording is not from a stranger
		}
		Replay(bytes.NewReader(b), nil)
	})
}
