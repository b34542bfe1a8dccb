package fabric

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/job"
)

// The environment of sendMany: how many messages each sender has, and after how many of them rank 1 is to be killed.
const (
	envMany = "WEFT_TEST_MANY"
	envKill = "WEFT_TEST_KILL"
)

// message is the ith message from a rank: its number, and bytes that follow from both.
func message(buf []byte, from, i int) []byte {
	m := buf[:8+(i*7+from)%300]
	binary.LittleEndian.PutUint64(m, uint64(i))
	for k := range m[8:] {
		m[8+k] = byte(i*31 + k*from)
	}
	return m
}

// sendMany has rank 0 receive from ranks 1 and 2, and check order and bytes. Rank 1 is killed on the way.
func sendMany(ctx context.Context, p *weft.Proc) error {
	many, err := strconv.Atoi(os.Getenv(envMany))
	if err != nil {
		return err
	}
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	if p.Rank() != 0 {
		buf := make([]byte, 512)
		for i := range many {
			if err := q.Send(ctx, 0, message(buf, p.Rank(), i)); err != nil {
				return err
			}
		}
		if p.Rank() == 1 { // is killed before the last of its messages is asked for
			<-ctx.Done()
		}
		return q.Flush(ctx)
	}
	survivor := make(chan error, 1)
	go func() {
		_, err := receiveMany(ctx, q, 2, many, -1)
		survivor <- err
	}()
	kill, err := strconv.Atoi(os.Getenv(envKill))
	if err != nil {
		return err
	}
	got, err := receiveMany(ctx, q, 1, many+1, kill)
	var gone *weft.PeerError
	if !errors.As(err, &gone) || gone.Rank != 1 {
		return fmt.Errorf("after %d messages of rank 1: %w", got, err)
	}
	if err := <-survivor; err != nil {
		return err
	}
	fmt.Printf("in order and unchanged: %d of rank 1, %d of rank 2\n", got, many)
	return nil
}

// receiveMany receives messages from a rank, and says so at one of them.
func receiveMany(ctx context.Context, q *weft.Port, from, many, at int) (int, error) {
	buf := make([]byte, 512)
	for i := range many {
		if i == at {
			fmt.Println("kill it")
		}
		m, err := q.RecvFrom(ctx, from)
		if err != nil {
			return i, err
		}
		if !bytes.Equal(m.Data, message(buf, from, i)) {
			return i, fmt.Errorf("message %d of rank %d is another: %x", i, from, m.Data)
		}
		m.Release()
	}
	return many, nil
}

// Messages arrive in order and unchanged while another peer is killed, half-way. Exploration says in WEFT_TEST_MANY how
// many messages there are, and then chance chooses the moment; -test.count is how often.
func TestMany(t *testing.T) {
	need(t)
	many := 2000
	at := many / 2
	if n, err := strconv.Atoi(os.Getenv(envMany)); err == nil {
		many = n
		at = rand.IntN(many)
	}
	j := startWith(t, one, "many", envMany+"="+strconv.Itoa(many), envKill+"="+strconv.Itoa(at))
	if err := j.Await(t.Context(), 0, "kill it"); err != nil {
		t.Fatalf("%v\n%s", err, outputs(j))
	}
	j.Kill(1)
	if err := j.Wait(t.Context()); err != nil {
		t.Fatalf("killed at %d: %v\n%s", at, err, outputs(j))
	}
	if out := j.Output(0); !strings.Contains(out, "in order and unchanged") {
		t.Errorf("killed at %d: %s", at, out)
	}
	t.Log(j.Output(0))
}

func outputs(j *job.Job) string { return j.Output(0) + j.Output(1) + j.Output(2) }
