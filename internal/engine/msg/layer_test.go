package msg

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"weft/internal/monotime"
)

// A conversation is two layers, each of which sends messages to the other.
type conversation struct {
	t     *testing.T
	rand  *rand.Rand
	rigs  [2]*rig
	ports [2]*Port
	sent  [2]uint64 // messages that a rank has sent
	got   [2]uint64 // messages that a rank has received
	loans [2][]*Block
	now   monotime.Time
}

func newConversation(t *testing.T, seed uint64, cfg Config) *conversation {
	c := &conversation{t: t, rand: rand.New(rand.NewPCG(seed, 2)), now: 1}
	for me := range c.rigs {
		c.rigs[me] = newRigOf(t, me, 2)
		c.ports[me] = c.rigs[me].open(cfg)
	}
	return c
}

// send sends the next message of a rank, if there is room for it.
func (c *conversation) send(me int) {
	b := make([]byte, 8+c.rand.IntN(MaxEager-8))
	binary.LittleEndian.PutUint64(b, c.sent[me])
	if c.ports[me].Give(1-me, b) {
		c.sent[me]++
	}
}

// deliver hands the frames of a rank to the other, and lets timers run out.
func (c *conversation) deliver(me int) {
	for _, frame := range c.rigs[me].take(1 - me) {
		if err := c.rigs[1-me].layer.Recv(c.now, me, frame); err != nil {
			c.t.Fatal(err)
		}
	}
	c.now = c.now.Add(maxBackoff)
	c.rigs[me].layer.Advance(c.now)
}

// receive takes what has arrived at a rank: it must be the next message.
func (c *conversation) receive(me int) {
	for {
		b, from := c.ports[me].Next(Any)
		if b == nil {
			return
		}
		if n := binary.LittleEndian.Uint64(b.Data()); from != 1-me || n != c.got[me] {
			c.t.Fatalf("message %d of rank %d comes to rank %d, and number %d is due", n, from, me, c.got[me])
		}
		c.got[me]++
		c.loans[me] = append(c.loans[me], b)
	}
}

// release gives a message on loan back, any of them.
func (c *conversation) release(me int) {
	if n := len(c.loans[me]); n > 0 {
		i := c.rand.IntN(n)
		c.ports[me].Release(c.loans[me][i])
		c.loans[me] = append(c.loans[me][:i], c.loans[me][i+1:]...)
	}
}

// Two ranks send to each other through buffers that are often full: messages are refused,
// and sent again. Each arrives once, in order, and no buffer holds more than its size.
func TestConversation(t *testing.T) {
	for seed := range uint64(40) {
		c := newConversation(t, seed, Config{RecvBuffer: 64 << 10, SendBuffer: 64 << 10, Flow: FlowControl(seed % 4)})
		for range 3000 {
			me := c.rand.IntN(2)
			switch c.rand.IntN(5) {
			case 0, 1:
				c.send(me)
			case 2:
				c.deliver(me)
			case 3:
				c.receive(me)
			default:
				c.release(me)
			}
			if held, limit := c.ports[me].Occupancy(); held > limit {
				t.Fatalf("seed %d: the buffer of rank %d holds %d bytes of %d", seed, me, held, limit)
			}
			c.rigs[me].layer.consistent(t)
		}
		for range 500 { // what has been sent comes to its end
			for me := range c.rigs {
				c.release(me)
				c.receive(me)
				c.deliver(me)
			}
		}
		for me := range c.rigs {
			if c.sent[me] != c.got[1-me] || c.sent[me] < 50 {
				t.Errorf("seed %d: rank %d sent %d messages, and %d have arrived", seed, me, c.sent[me], c.got[1-me])
			}
		}
		refused := c.rigs[0].layer.Stats.Refused + c.rigs[1].layer.Stats.Refused
		if refused == 0 {
			t.Errorf("seed %d: no message was refused", seed)
		}
	}
}
