package control

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// An Answer is what a process has said.
type Answer[T any] struct {
	PID   int // of the process that listens, as the kernel knows it
	Value T
}

// Ask asks all processes of this user, or for root of all users, that listen for a kind of questions. The answers are
// ordered by process number. A pid other than 0 selects one process. The error is about a process that did not answer.
// What the answers hold is not to be believed more than their users are.
func Ask[T any](kind string, pid int) ([]Answer[T], error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	r := roll[T]{pid: pid, users: map[int]int{}}
	calls := make(chan struct{}, atOnce)
	seen := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan() && ctx.Err() == nil; {
		name, process := socket(lines.Text(), kind, pid)
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		calls <- struct{}{}
		r.asked.Go(func() {
			c, err := new(net.Dialer).DialContext(ctx, "unix", name)
			<-calls
			r.note(ctx, c, process, err)
		})
	}
	r.asked.Wait()
	slices.SortFunc(r.answers, func(a, b Answer[T]) int { return cmp.Compare(a.PID, b.PID) })
	return r.answers, r.failed
}

// A roll is the processes that have answered.
type roll[T any] struct {
	pid     int // of the process that is asked, or 0
	asked   sync.WaitGroup
	mu      sync.Mutex
	users   map[int]int // how many sockets of each user have been read
	answers []Answer[T]
	failed  error
}

// note asks the process behind a socket. Any user may give a socket such a name: what nobody listens at, or another
// user does, is passed over.
func (r *roll[T]) note(ctx context.Context, c net.Conn, process string, err error) {
	a := Answer[T]{}
	uid := -1
	if err == nil {
		if a.PID, uid, err = peer(c); err != nil {
			c.Close()
		}
	}
	reached := err == nil
	own := uid == os.Getuid()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EAGAIN):
		return // nobody listens, or answers
	case reached && !own && os.Getuid() != 0 || reached && !r.admit(uid):
		c.Close()
		return
	case reached:
		err = ask(ctx, c, &a.Value)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.answers = append(r.answers, a)
		if r.pid != 0 {
			r.failed = nil // others have claimed to be that process
		}
	case own || !reached || r.pid != 0 && len(r.answers) == 0:
		r.failed = fmt.Errorf("weft: process %s does not answer: %w", process, err)
	}
}

// admit counts a socket of a user, and reports whether it is to be read.
func (r *roll[T]) admit(uid int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users[uid]++
	return r.users[uid] <= mostAsked
}

// socket returns the name of the socket in a line of /proc/net/unix and the number of its process, or "" if the line
// has another socket.
func socket(line, kind string, pid int) (name, process string) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return "", ""
	}
	name = words[len(words)-1]
	rest, ok := strings.CutPrefix(name, "@"+kind)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 {
		return "", ""
	}
	if n, err := strconv.Atoi(parts[1]); err != nil || pid != 0 && n != pid {
		return "", ""
	}
	return name, parts[1]
}

// Bounds of what other users can cause: they may listen on sockets with such names.
const (
	askTime   = 3 * time.Second // for all processes together
	atOnce    = 64              // sockets that are being connected to
	mostAsked = 500             // processes of a user
	mostSaid  = 16 << 20        // bytes of an answer
)

// ask reads what the process at the other end of a connection says, and closes the connection.
func ask(ctx context.Context, c net.Conn, into any) error {
	defer c.Close()
	if end, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(end)
	}
	in := &io.LimitedReader{R: c, N: mostSaid}
	err := json.NewDecoder(in).Decode(into)
	if err != nil && in.N == 0 {
		err = fmt.Errorf("its answer is longer than %d MiB", mostSaid>>20)
	}
	return err
}
