//go:build linux

package launch_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"weft"
	"weft/internal/explore"
	"weft/internal/waittest"
)

// letters are what a sender pushes: its number, then bytes that follow from it.
func letter(rank, i int) []byte {
	b := make([]byte, 8+(i*i+rank*977)%5000)
	binary.LittleEndian.PutUint64(b, uint64(i))
	for k := 8; k < len(b); k++ {
		b[k] = byte(rank*31 + i*7 + k)
	}
	return b
}

func checkLetter(d *weft.Delivery, want int) error {
	if len(d.Data) < 8 {
		return fmt.Errorf("rank %d: %d bytes", d.From, len(d.Data))
	}
	i := int(binary.LittleEndian.Uint64(d.Data))
	if i != want || string(d.Data) != string(letter(d.From, i)) {
		return fmt.Errorf("rank %d: message %d of %d bytes, not number %d", d.From, i, len(d.Data), want)
	}
	return nil
}

// post lets all ranks push to rank 0, into one ring that they share. In doomed mode
// half of them are killed while they do.
func post(ctx context.Context, p *weft.Proc, how string) error {
	const each = 1500
	doomed := func(rank int) bool { return how == "doomed" && rank%2 == 1 }
	if p.Rank() > 0 {
		s, err := p.AttachMailbox(ctx, 0, "post")
		if err != nil {
			return err
		}
		if !s.Direct() {
			return fmt.Errorf("the mailbox is not mapped")
		}
		var pushed atomic.Int32
		if doomed(p.Rank()) {
			go func() { // in the middle of a push, or between two
				for end := rand.Int32N(200); pushed.Load() < end; {
					runtime.Gosched()
				}
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}()
		}
		for i := 0; i < each || doomed(p.Rank()); i++ {
			if err := s.Push(ctx, letter(p.Rank(), i)); err != nil {
				return err
			}
			pushed.Add(1)
		}
		return nil
	}
	m, err := p.OpenMailbox("post", &weft.MailboxConfig{Rings: []int{64 << 10}})
	if err != nil {
		return err
	}
	defer m.Close()
	next := make([]int, p.Size())
	for left := p.Size() - 1; left > 0; {
		if how == "doomed" && left == p.Size()/2 {
			break // the remaining ranks are killed, too
		}
		d, err := m.Next(ctx)
		if how == "doomed" && errors.Is(err, weft.ErrPeer) {
			continue
		}
		if err != nil {
			return err
		}
		if err := checkLetter(&d, next[d.From]); err != nil {
			return err
		}
		d.Release()
		if next[d.From]++; next[d.From] == each && !doomed(d.From) {
			left--
		}
	}
	// What the dead have left is taken and given back: nothing stays reserved.
	if how == "doomed" && !waittest.Poll(func() bool {
		if d, err := m.TryNext(); err == nil {
			d.Release()
		}
		return m.Rings()[0].Used == 0
	}) {
		return fmt.Errorf("%d bytes are reserved, and nothing comes", m.Rings()[0].Used)
	}
	fmt.Printf("received %v\n", next)
	return nil
}

// TestSharedRing: seven processes push into one ring: nothing is lost, doubled, mixed
// up or out of order.
func TestSharedRing(t *testing.T) {
	j, out, report := job(t, 8, "post all")
	j.Transport = "shm"
	run(t, j, nil)
	if !strings.Contains(out.String(), "received [0 1500 1500 1500 1500 1500 1500 1500]") {
		t.Errorf("%s%s", out, report)
	}
}

// TestSendersAreKilled: what they had reserved is given back, and the others go on.
func TestSendersAreKilled(t *testing.T) {
	for range explore.Choose(2, 20) {
		j, out, report := job(t, 8, "post doomed")
		j.Transport = "shm"
		j.Survive = true
		run(t, j, nil)
		if !strings.Contains(out.String(), "received") {
			t.Fatalf("%s%s", out, report)
		}
	}
}
