package weft

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/bootstrap/rendezvous"
)

// secretOfTests guards the stores that Join meets here.
const secretOfTests = "a secret for tests of Join"

// serveStore serves the store of a job of three as rank 0 of it would, and returns its address.
func serveStore(t *testing.T, label string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := rendezvous.Serve(l, rendezvous.Config{
		Job:    bootstrap.Job{Size: 3},
		Member: bootstrap.Member{Version: bootstrap.Version, Size: 3, Label: label},
		Secret: []byte(secretOfTests), Notice: func(string) {},
	})
	t.Cleanup(s.Close)
	return l.Addr().String()
}

// joinAs is Join in a process that was told its rank and the size of its job by variables of the environment.
func joinAs(ctx context.Context, t *testing.T, rank, size, at string) error {
	t.Helper()
	for name, value := range map[string]string{
		"WEFT_LAUNCHER": "", "WEFT_SECRET": secretOfTests, "WEFT_RENDEZVOUS": at, "WEFT_RANK": rank, "WEFT_SIZE": size,
	} {
		t.Setenv(name, value)
	}
	p, err := Join(ctx, nil)
	if err == nil {
		p.Close()
	}
	return err
}

// untilError calls join with contexts that end later and later, until the error is what the test is about: on a busy
// machine a context may end before the rank has met the store.
func untilError(t *testing.T, join func(ctx context.Context) error, as any) error {
	t.Helper()
	for wait := 50 * time.Millisecond; ; wait *= 4 {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		err := join(ctx)
		cancel()
		if errors.As(err, as) {
			return err
		}
		if wait > time.Minute || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%T: %v", err, err)
		}
	}
}

// A rank that was told another size of the job than rank 0 is refused by rank 0.
func TestJoinRefused(t *testing.T) {
	err := joinAs(t.Context(), t, "1", "4", serveStore(t, ""))
	var refused *JoinRefusedError
	if !errors.As(err, &refused) || refused.OtherJob || refused.Cause != nil ||
		!strings.HasPrefix(err.Error(), "weft: rank 0 does not let this rank in: ") ||
		!strings.Contains(refused.Why, "has 3 ranks, and this rank was told 4") {
		t.Errorf("%T: %v", err, err)
	}
}

// A rank that finds only the store of another job looks for that of its own until its context ends.
func TestJoinRefusedByOtherJob(t *testing.T) {
	at := serveStore(t, "another job")
	var refused *JoinRefusedError
	err := untilError(t, func(ctx context.Context) error { return joinAs(ctx, t, "1", "3", at) }, &refused)
	if !refused.OtherJob || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(refused.Why, "another job") {
		t.Errorf("%+v: %v", refused, err)
	}
}

// A rank that has met rank 0 waits for the others until its context ends.
func TestJoinMissing(t *testing.T) {
	at := serveStore(t, "")
	var missing *MissingError
	err := untilError(t, func(ctx context.Context) error { return joinAs(ctx, t, "1", "3", at) }, &missing)
	if len(missing.Ranks) != 0 || !errors.Is(err, context.DeadlineExceeded) ||
		!strings.HasPrefix(err.Error(), "weft: other ranks did not join the job: ") {
		t.Errorf("%v", err)
	}
}

// Rank 0 knows which ranks have not come as soon as its context ends.
func TestJoinMissingAtRank0(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close() // Join takes the port, or waits until another process no longer has it
	var missing *MissingError
	err = untilError(t, func(ctx context.Context) error { return joinAs(ctx, t, "0", "3", at) }, &missing)
	if !slices.Equal(missing.Ranks, []int{1, 2}) || !errors.Is(err, context.DeadlineExceeded) ||
		err.Error() != "weft: ranks 1, 2 did not join the job: context deadline exceeded" {
		t.Errorf("%v", err)
	}
}
