package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"weft"
)

// TestFileGaps: members write pieces of all lengths, in several stages, between bytes that nobody writes; each byte of
// the file is that of the member that wrote it, or what it was.
func TestFileGaps(t *testing.T) {
	for seed := range uint64(3) {
		name := filepath.Join(t.TempDir(), "f")
		before := bytes.Repeat([]byte{0xee}, int(seed)*stageBytes)
		if err := os.WriteFile(name, before, 0o600); err != nil {
			t.Fatal(err)
		}
		const members = 3
		want, views := scattered(rand.New(rand.NewPCG(seed, 0)), members, before)
		err := weft.Local(t.Context(), members, func(ctx context.Context, p *weft.Proc) error {
			c := World(p)
			f, err := OpenFile(ctx, c, name, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			mine := bytes.Repeat([]byte{byte(c.Rank())}, views[c.Rank()].count)
			got := make([]byte, len(mine))
			err = errors.Join(f.SetView(ctx, 0, views[c.Rank()], len(want)), f.WriteAtAll(ctx, Of(mine), 0))
			if n, e := f.ReadAtAll(ctx, Of(got), 0); n != len(got) || !bytes.Equal(got, mine) {
				err = errors.Join(err, e, fmt.Errorf("%d bytes of %d came back", n, len(got)))
			}
			return errors.Join(err, f.Close(ctx))
		})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		got, err := os.ReadFile(name)
		if err != nil || len(got) != len(want) {
			t.Fatalf("seed %d: %d bytes, not %d: %v", seed, len(got), len(want), err)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("seed %d: byte %d is %d, not %d", seed, i, got[i], want[i])
			}
		}
	}
}

// scattered returns views of members, of pieces at random, and what is in the file when each has written its rank.
func scattered(rng *rand.Rand, members int, before []byte) (want []byte, views []*Section) {
	lengths := make([][]int, members)
	places := make([][]int, members)
	for at := 0; at < 3*stageBytes; {
		n := 1 + rng.IntN([]int{3, 70, 5000, 3 * longBytes}[rng.IntN(4)])
		want = append(want, make([]byte, n)...)
		if who := rng.IntN(members + 1); who < members {
			lengths[who] = append(lengths[who], n)
			places[who] = append(places[who], at)
			copy(want[at:], bytes.Repeat([]byte{byte(who)}, n))
		} else if at < len(before) {
			copy(want[at:], before[at:])
		}
		at += n
	}
	last := len(want) // the file ends where a member has written
	want = append(want, 0)
	lengths[0] = append(lengths[0], 1)
	places[0] = append(places[0], last)
	for who := range members {
		views = append(views, Indexed(lengths[who], places[who]))
	}
	return want, views
}
