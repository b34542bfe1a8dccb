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
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		jobs   []Status
		failed error
	)
	seen := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan() && len(seen) < mostAsked; {
		name, job := jobSocket(lines.Text(), pid)
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		wg.Go(func() {
			s, err := ask(ctx, name)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, errStranger): // any user may give a socket such a name
			case err != nil:
				failed = fmt.Errorf("weft: the job of process %s does not answer: %w", job, err)
			default:
				jobs = append(jobs, s)
			}
		})
	}
	wg.Wait()
	slices.SortFunc(jobs, func(a, b Status) int { return a.PID - b.PID })
	if len(jobs) == 0 && failed == nil && pid != 0 {
		failed = fmt.Errorf("weft: process %d runs no job of yours", pid)
	}
	return jobs, failed
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
	mostAsked = 1000            // jobs
	mostSaid  = 16 << 20        // bytes of an answer
)

// errStranger reports that a socket belongs to another user.
var errStranger = errors.New("weft: it belongs to another user")

// ask asks the launcher behind a socket for its status. It reads nothing from a process of another user.
func ask(ctx context.Context, name string) (s Status, err error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", name)
	if err != nil {
		return s, err
	}
	defer c.Close()
	uid, err := peerUser(c)
	switch {
	case err != nil:
		return s, err
	case os.Getuid() != 0 && uid != os.Getuid():
		return s, errStranger
	}
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
