package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"weft"
)

// A rank that says nonsense on the channel disturbs nobody: what it says is dropped, or ends
// the connection that it is about.
func TestRanksThatTalkNonsense(t *testing.T) {
	err := weft.Local(within(t), 3, func(ctx context.Context, p *weft.Proc) error {
		if p.Rank() == 2 {
			port, err := p.OpenPort(5, nil)
			if err != nil {
				return err
			}
			rnd := rand.New(rand.NewPCG(7, 8))
			for range 20000 {
				b := make([]byte, rnd.IntN(3*headerBytes))
				if len(b) >= headerBytes {
					f := frame{kind: frameKind(rnd.IntN(int(frameKinds) + 1)), dialled: rnd.IntN(4) > 0,
						arg: rnd.Uint32() >> rnd.IntN(32), id: rnd.Uint64N(50)}
					f.put(b)
				}
				if err := port.Send(ctx, rnd.IntN(2), b); err != nil {
					return err
				}
				for {
					m, err := port.TryRecv()
					if err != nil {
						break
					}
					m.Release()
				}
			}
			return p.Barrier("end", nil).Wait(ctx)
		}
		n, err := Open(p, 5)
		if err != nil {
			return err
		}
		defer n.Close()
		l, err := n.Listen()
		if err != nil {
			return err
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					io.Copy(c, c)
				}()
			}
		}()
		for range 50 {
			c, err := n.Dial(ctx, 1-p.Rank())
			if err != nil {
				return err
			}
			want := noise(5000)
			c.Write(want)
			c.CloseWrite()
			got, err := io.ReadAll(c)
			if err != nil || !bytes.Equal(got, want) {
				return errors.Join(err, errors.New("other bytes came back"))
			}
			c.Close()
		}
		return p.Barrier("end", nil).Wait(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}

// A peer that sends more than it may, or acknowledges what was never sent, is cut off.
func TestRankConnRules(t *testing.T) {
	nets := job(t, 2, &Config{Buffer: MinBuffer})
	for name, f := range map[string]frame{
		"credit": {kind: frameCredit, arg: 1},
		"data":   {kind: frameData},
	} {
		c1, c2 := join(t, nets[0], nets[1])
		for range 2 {
			c1.handle(f, make([]byte, MinBuffer/2+1))
		}
		io.CopyN(io.Discard, c1, MinBuffer/2+1)
		if _, err := c1.Write([]byte{1}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: Write: %v", name, err)
		}
		_ = c2
	}
}

// A credit that another has overtaken takes nothing back.
func TestOldCredit(t *testing.T) {
	nets := job(t, 2, new(Config))
	c1, _ := join(t, nets[0], nets[1])
	c1.Write(make([]byte, 1000))
	for _, read := range []uint32{900, 300, 900} {
		c1.handle(frame{kind: frameCredit, arg: read}, nil)
	}
	if c1.acked != 900 || c1.cut != nil {
		t.Errorf("%d bytes are read, %v", c1.acked, c1.cut)
	}
}
