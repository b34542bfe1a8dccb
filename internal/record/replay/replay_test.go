package replay

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
	"weft/internal/record"
)

// A pair is two engines that send each other messages over a network that loses every seventh
// packet. The first one is recorded.
type pair struct {
	*testing.T
	engines [2]*record.Engine // the first one is recorded
	ports   [2]*msg.Port
	now     monotime.Time
	sent    int // packets
}

// agreement is a rank's part in agreements, without real keys.
func agreement(private byte) link.Agreement {
	return link.Agreement{Share: bytes.Repeat([]byte{private}, 32), Root: func(share []byte) []byte {
		return []byte{private ^ share[0]}
	}}
}

func newPair(t *testing.T, guard link.Guard, file *bytes.Buffer) *pair {
	cfg := func(rank int) engine.Config {
		n := uint64(rank)
		return engine.Config{
			Rank: rank, Size: 2, Job: 1, Secret: []byte("secret"), Incarnation: uint64(rank + 1),
			Link: link.Config{Window: 8, Liveness: -1}, Rand: func() uint64 { n++; return n },
			Agreement: agreement(byte(rank + 1)),
		}
	}
	c := &pair{T: t, now: 1}
	first := record.New(file, cfg(0))
	second := record.New(nil, cfg(1))
	c.engines = [2]*record.Engine{&first, &second}
	path := engine.Path{MTU: 1500, Lossy: true, Guard: guard, Incarnation: 2, Share: agreement(2).Share}
	c.engines[0].Connect(c.now, 1, path)
	c.engines[1].Connect(c.now, 0, engine.Path{MTU: 1500, Lossy: true, Guard: guard, Incarnation: 1,
		Share: agreement(1).Share})
	for rank, e := range c.engines {
		p, err := e.Open(1, msg.Config{})
		if err != nil {
			t.Fatal(err)
		}
		c.ports[rank] = p
	}
	return c
}

// round has both engines send a message, if there are more, and receive one.
func (c *pair) round(i int) {
	p := c.ports[0]
	q := c.ports[1]
	if i < 500 {
		c.engines[0].Give(p, 1, make([]byte, i))
		q.Give(0, make([]byte, 10))
	}
	c.now = c.now.Add(time.Millisecond)
	for _, e := range c.engines {
		e.Advance(c.now)
	}
	c.move(0)
	c.move(1)
	if b, _ := c.engines[0].Next(p, msg.Any); b != nil {
		c.engines[0].Release(p, b)
	}
	if b, _ := q.Next(msg.Any); b != nil {
		q.Release(b)
	}
}

// move moves the packets that an engine has to send.
func (c *pair) move(from int) {
	var out [4]link.Packet
	for {
		_, n, _ := c.engines[from].Output(c.now, out[:])
		if n == 0 {
			return
		}
		for _, pkt := range out[:n] {
			if c.sent++; c.sent%7 != 0 {
				c.arrive(1-from, append(bytes.Clone(pkt.Header), pkt.Payload...))
			}
		}
		c.engines[from].Taken(c.now, 1-from, n, n, out[:])
	}
}

// arrive hands a packet to an engine. The engine that is recorded gets a forged packet before every eleventh.
func (c *pair) arrive(to int, b []byte) {
	if to == 0 {
		if c.sent%11 == 0 {
			forged := bytes.Clone(b)
			forged[len(forged)-1] ^= 1
			c.engines[0].Recv(c.now, engine.Trusted, forged)
		}
	}
	c.engines[to].Recv(c.now, engine.Trusted, b)
}

// recording returns the recording of an engine, and the fingerprint of its last state.
func recording(t *testing.T, guard link.Guard) (tape []byte, last uint64) {
	var file bytes.Buffer
	c := newPair(t, guard, &file)
	for i := range 600 {
		c.round(i)
	}
	c.engines[0].End()
	if c.engines[0].Err() != nil {
		t.Fatal(c.engines[0].Err())
	}
	return file.Bytes(), c.engines[0].Fingerprint()
}

// TestReplay: a recording leads to the same state, by way of the same ones.
func TestReplay(t *testing.T) {
	for _, guard := range []link.Guard{link.Checked, link.Tagged, link.Encrypted} {
		t.Run(guard.String(), func(t *testing.T) { replay(t, guard) })
	}
}

func replay(t *testing.T, guard link.Guard) {
	tape, last := recording(t, guard)
	seen := 0
	r, err := Play(bytes.NewReader(tape), func(record.Input) { seen++ })
	if err != nil {
		t.Fatal(err)
	}
	if r.Hash != last || r.States < 3 || seen != r.Inputs {
		t.Errorf("%+v, want the hash %#x", r, last)
	}
	if s := r.Engine.Stats(); s.Sent.Resent == 0 || s.Msg.Received == 0 || s.Dropped.Forged == 0 {
		t.Errorf("nothing much has happened: %+v", s)
	}
}

// TestSecretIsNotRecorded: neither the job's secret nor anything that was made with it is
// in a recording.
func TestSecretIsNotRecorded(t *testing.T) {
	tape, _ := recording(t, link.Tagged)
	if bytes.Contains(tape, []byte(base64.StdEncoding.EncodeToString([]byte("secret")))) {
		t.Error("it is in the recording")
	}
	jobs := link.NewSelf(1, 0, 1, []byte("secret"))
	var recordings *link.Self
	good := 0
	if _, err := Play(bytes.NewReader(tape), func(e record.Input) {
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
	tape, _ := recording(t, link.Tagged)
	lines := strings.SplitAfter(string(tape), "\n")
	for i := 20; i < len(lines)-2; i += len(lines) / 10 {
		for !strings.Contains(lines[i], `"recv"`) && !strings.Contains(lines[i], `"give"`) {
			i++
		}
		without := strings.Join(append(append([]string{}, lines[:i]...), lines[i+1:]...), "")
		if _, err := Play(strings.NewReader(without), nil); err == nil {
			t.Errorf("without event %d, %.80s: nothing is noticed", i, lines[i])
		}
	}
	changed := strings.Replace(string(tape), `{"Do":"give","Rank":1,"N":77,`, `{"Do":"give","Rank":1,"N":78,`, 1)
	if changed == string(tape) {
		t.Fatal("the event is not there")
	}
	if _, err := Play(strings.NewReader(changed), nil); err != nil && !errors.Is(err, ErrDiverged) {
		t.Error(err)
	}
}

// TestCut: a recording that ends in the middle of an event is played up to there.
func TestCut(t *testing.T) {
	tape, _ := recording(t, link.Tagged)
	whole, err := Play(bytes.NewReader(tape), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Play(bytes.NewReader(tape[:len(tape)/2]), nil)
	if err != nil || r.Inputs == 0 || r.Inputs >= whole.Inputs {
		t.Errorf("%d events, %v", r.Inputs, err)
	}
}

// TestDamaged: whatever a recording says, the player ends with an error, and takes no memory for it.
func TestDamaged(t *testing.T) {
	engine := `{"Do":"engine","Engine":{"Rank":0,"Size":2}}` + "\n"
	open := engine + `{"Do":"open","N":1,"Open":{}}` + "\n"
	for _, text := range []string{
		`{"Do":"engine","Engine":{"Rank":0,"Size":1099511627776}}`,
		engine + `{"Do":"expose","N":1099511627776,"Name":"r","Region":1}`,
		engine + `{"Do":"expose","N":-1,"Name":"r","Region":1}`,
		engine + `{"Do":"object","Object":{"Class":6,"Name":"b","Window":1099511627776}}`,
		engine + `{"Do":"connect","Rank":1,"Path":{"MTU":1099511627776}}`,
		engine + `{"Do":"taken","Rank":1,"N":1000,"M":1000}`,
		open + `{"Do":"start","Port":1,"Op":1,"Msg":{"Kind":1,"Len":1099511627776}}`,
		open + `{"Do":"give","Port":1,"Rank":-7,"N":-1}`,
		open + `{"Do":"reserve","Port":1,"Rank":1,"N":1099511627776,"Block":1}`,
	} {
		if _, err := Play(strings.NewReader(text), nil); err == nil {
			t.Errorf("no error: %s", text)
		}
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
		Play(bytes.NewReader(b), nil)
	})
}
