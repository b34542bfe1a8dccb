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
	for _, s := range sockets(f, kind, pid, os.Getuid()) {
		if ctx.Err() != nil {
			break
		}
		calls <- struct{}{}
		r.asked.Go(func() {
			c, err := new(net.Dialer).DialContext(ctx, "unix", s.name)
			<-calls
			r.note(ctx, c, s, err)
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
func (r *roll[T]) note(ctx context.Context, c net.Conn, s socket, err error) {
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
	case own || !reached && s.own || r.pid != 0 && len(r.answers) == 0:
		r.failed = fmt.Errorf("weft: process %s does not answer: %w", s.process, err)
	}
}

// admit counts a socket of a user, and reports whether it is to be read.
func (r *roll[T]) admit(uid int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users[uid]++
	return r.users[uid] <= mostAsked
}

// A socket is one that a process seems to listen on.
type socket struct {
	name    string
	process string // its number,
	own     bool   // and its user is this one, as the name says; root's are all
}

// sockets returns the sockets of a kind that are listed in /proc/net/unix, those of this user, me, first: others may
// have made so many that there is no time to try them all.
func sockets(list io.Reader, kind string, pid, me int) []socket {
	var own, others []socket
	seen := map[string]bool{}
	for lines := bufio.NewScanner(list); lines.Scan(); {
		s := socketOf(lines.Text(), kind, pid, me)
		switch {
		case s.name == "" || seen[s.name]:
			continue
		case s.own:
			own = append(own, s)
		default:
			others = append(others, s)
		}
		seen[s.name] = true
	}
	return append(own, others...)
}

// socketOf returns the socket in a line of /proc/net/unix, or none if it is another.
func socketOf(line, kind string, pid, me int) socket {
	words := strings.Fields(line)
	if len(words) == 0 {
		return socket{}
	}
	name := words[len(words)-1]
	rest, ok := strings.CutPrefix(name, "@"+kind)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 {
		return socket{}
	}
	if n, err := strconv.Atoi(parts[1]); err != nil || pid != 0 && n != pid {
		return socket{}
	}
	return socket{name, parts[1], me == 0 || parts[0] == strconv.Itoa(me)}
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
