package launch

import (
	"bufio"
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

	"weft/internal/bootstrap"
	"weft/internal/counters"
	"weft/internal/sys"
	"weft/internal/waitgraph"
)

// weft ps asks a running job what its ranks wait for. The job's launcher, or rank 0 if another launcher has started the
// job, listens on a Unix socket with an abstract name, which leaves no file behind. It answers its own user and root.

const controlName = "weft-job-"

// A Status is the state of a running job: what its ranks wait for.
type Status struct {
	PID     int    // of weft run, or of rank 0
	By      string `json:",omitempty"` // the launcher; "" for weft run
	Program string
	Args    []string `json:",omitempty"`
	Started time.Time
	Restart int // how often it has been started again
	Ranks   []waitgraph.Report
}

// Listen answers questions about a job with its status, until the returned function is called. The id is unique among
// the jobs of this process. If it cannot listen, the job runs all the same, and weft ps does not show it.
func Listen(id uint64, status func() Status) (stop func()) {
	l, err := net.Listen("unix", "@"+controlName+strconv.Itoa(os.Getuid())+"-"+strconv.Itoa(os.Getpid())+"-"+
		strconv.FormatUint(id, 16))
	if err != nil {
		return func() {}
	}
	go accept(l, status)
	return func() { l.Close() }
}

// accept answers questions until the listener is closed.
func accept(l net.Listener, status func() Status) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // out of descriptors, perhaps
			continue
		}
		go answer(c, status)
	}
}

func answer(c net.Conn, status func() Status) {
	defer c.Close()
	if uid, err := peerUser(c); err != nil || uid != 0 && uid != os.Getuid() {
		return
	}
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_ = json.NewEncoder(c).Encode(status())
}

// Patience is how long a rank may take to say what it waits for.
const Patience = 2500 * time.Millisecond

// Status asks all ranks what they wait for.
func (r *Running) Status() Status {
	s := Status{PID: os.Getpid(), Program: r.job.Program, Args: r.job.Args, Started: r.started, Restart: r.job.Restart,
		Ranks: Ask(r.server)}
	for i := range s.Ranks {
		s.Ranks[i].PID = r.PID(i)
	}
	return s
}

// Ask asks all ranks that a server serves what they wait for.
func Ask(server *bootstrap.Server) (ranks []waitgraph.Report) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	for rank, text := range server.State(ctx) {
		report := waitgraph.Report{Host: server.Job(rank).Host, Ended: server.Ended(rank)}
		switch {
		case report.Ended != "":
		case text == "":
			report.Silent = true
		default:
			_ = json.Unmarshal([]byte(text), &report)
		}
		report.Rank = rank
		ranks = append(ranks, report)
	}
	return ranks
}

// explain reports what the ranks wait for.
func (r *Running) explain() {
	if r.job.Report != nil {
		_ = waitgraph.New(r.Status().Ranks).WriteText(r.job.Report)
	}
}

// Jobs returns the status of the running jobs of this user, or for root of all users, ordered by process number. A pid
// other than 0 selects the job of this process. The error is about a job that did not answer.
func Jobs(pid int) ([]Status, error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	r := roll{pid: pid, users: map[int]int{}}
	calls := make(chan struct{}, atOnce)
	seen := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan() && ctx.Err() == nil; {
		name, job := jobSocket(lines.Text(), pid)
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		calls <- struct{}{}
		r.asked.Go(func() {
			c, uid, err := call(ctx, name)
			<-calls
			r.note(ctx, c, uid, job, err)
		})
	}
	r.asked.Wait()
	slices.SortFunc(r.jobs, func(a, b Status) int { return a.PID - b.PID })
	if len(r.jobs) == 0 && r.failed == nil && pid != 0 {
		r.failed = fmt.Errorf("weft: process %d runs no job of yours", pid)
	}
	return r.jobs, r.failed
}

// A roll is the jobs that have answered.
type roll struct {
	pid    int // of the job that is asked for, or 0
	asked  sync.WaitGroup
	mu     sync.Mutex
	users  map[int]int // how many sockets of each user have been read
	jobs   []Status
	failed error
}

// note asks the launcher behind a socket, a process of a user, for its status. Any user may give a socket the name of a
// launcher's: what nobody listens at, or another user does, is passed over.
func (r *roll) note(ctx context.Context, c net.Conn, uid int, job string, err error) {
	own := uid == os.Getuid()
	var s Status
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EAGAIN):
		return // nobody listens, or answers
	case err == nil && !own && os.Getuid() != 0 || err == nil && !r.admit(uid):
		c.Close()
		return
	case err == nil:
		s, err = ask(ctx, c)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.jobs = append(r.jobs, s)
		if r.pid != 0 {
			r.failed = nil // others have claimed to be that process
		}
	case own || c == nil || r.pid != 0 && len(r.jobs) == 0:
		r.failed = fmt.Errorf("weft: the job of process %s does not answer: %w", job, err)
	}
}

// admit counts a socket of a user, and reports whether it is to be read.
func (r *roll) admit(uid int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users[uid]++
	return r.users[uid] <= mostAsked
}

// jobSocket returns the name of the launcher's socket in a line of /proc/net/unix and the number of its process, or ""
// if the line has another socket.
func jobSocket(line string, pid int) (name, job string) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return "", ""
	}
	name = words[len(words)-1]
	rest, ok := strings.CutPrefix(name, "@"+controlName)
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
	askTime   = 3 * time.Second // for all jobs together
	atOnce    = 64              // sockets whose user is being asked for
	mostAsked = 500             // jobs of a user
	mostSaid  = 16 << 20        // bytes of an answer
)

// call connects to a socket, and returns the user of the process behind it.
func call(ctx context.Context, name string) (c net.Conn, uid int, err error) {
	if c, err = new(net.Dialer).DialContext(ctx, "unix", name); err != nil {
		return nil, 0, err
	}
	if uid, err = peerUser(c); err != nil {
		c.Close()
		return nil, 0, err
	}
	return c, uid, nil
}

// ask asks the launcher at the other end of a connection for its status, and closes the connection.
func ask(ctx context.Context, c net.Conn) (s Status, err error) {
	defer c.Close()
	if end, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(end)
	}
	in := &io.LimitedReader{R: c, N: mostSaid}
	if err := json.NewDecoder(in).Decode(&s); err != nil {
		if in.N == 0 {
			err = fmt.Errorf("its answer is longer than %d MiB", mostSaid>>20)
		}
		return Status{}, err
	}
	s.clean()
	return s, nil
}

// clean removes control characters, which a terminal would interpret.
func (s *Status) clean() {
	s.By = counters.Printable(s.By)
	s.Program = counters.Printable(s.Program)
	for i := range s.Args {
		s.Args[i] = counters.Printable(s.Args[i])
	}
}

// peerUser returns the user at the other end of a socket, from the kernel.
func peerUser(c net.Conn) (uid int, err error) {
	_, uid, err = sys.Credentials(c.(*net.UnixConn))
	return uid, err
}
