package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"

	"weft/failure"
)

// Env names the environment variable that holds the number of the inherited
// descriptor to the launcher.
const Env = "WEFT_FD"

// FromEnv returns the source of the job that this process's launcher has put it in, or of a job with this rank alone if
// no launcher has. It is called once only.
func FromEnv() (Source, error) {
	text := os.Getenv(Env)
	if text == "" {
		return NewLocal(1)[0], nil
	}
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("weft: %s=%q is not a descriptor that weft run has passed on", Env, text)
	}
	os.Unsetenv(Env) // children do not inherit the descriptor
	f := os.NewFile(uintptr(fd), "weft launcher")
	defer f.Close()
	c, err := net.FileConn(f) // duplicates the descriptor, with close-on-exec
	if err != nil {
		return nil, fmt.Errorf("weft: descriptor %d (%s) is no socket to weft run: %w", fd, Env, err)
	}
	return Join(c)
}

// Launched is the rank's side of the connection to a Server, such as that of weft run. It implements Source.
type Launched struct {
	c       *conn
	job     Job
	server  int        // the rank that serves the job; -1: the launcher does
	writing sync.Mutex // held while a line is written: never together with mu, which listen needs

	mu      sync.Mutex
	seq     uint64
	waits   map[uint64]chan line
	missing map[uint64][]int  // by number of a call, the ranks that it waits for, if the server has told
	told    map[string]string // values that other ranks have put, if the server tells them
	failure error             // why the connection ended
	watch   func(rank int, cause error)
	state   func() string
	record  func()   // sends what this rank has recorded
	early   []uint64 // questions from before state was set, at most mostAsked: the latest
	news    []line   // events of other ranks from before watch was set
}

// newLaunched returns the source of a rank that speaks over c to the server of its job. server is the rank that
// serves, or -1 if the launcher does.
func newLaunched(c *conn, server int) *Launched {
	return &Launched{c: c, server: server, waits: map[uint64]chan line{}, missing: map[uint64][]int{},
		told: map[string]string{}}
}

// Join joins the job of the Server at the other end of c. It owns c.
func Join(c io.ReadWriteCloser) (*Launched, error) {
	s := newLaunched(newConn(c), -1)
	l, err := s.c.read()
	if err == nil {
		s.job, err = l.job()
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("weft: the launcher did not say which job this is: %w", err)
	}
	go s.listen()
	return s, nil
}

// Job returns the identity of this process.
func (s *Launched) Job() Job { return s.job }

// listen hands each line of the server to the goroutine that waits for it.
func (s *Launched) listen() {
	for {
		l, err := s.c.read()
		if err != nil {
			s.lost(err)
			return
		}
		s.mu.Lock()
		wait := s.waits[l.Seq]
		watch := s.watch
		switch {
		case l.Op == "state" && s.state == nil:
			s.early = append(s.early[max(0, len(s.early)-mostAsked+1):], l.Seq)
		case l.Op == "state":
			go s.tell(l.Seq, s.state)
		case l.Op == "record":
			if s.record != nil {
				go s.record()
			}
		case l.Op == "told":
			s.told[name(l.Rank, l.Key)] = l.Value
		case l.Op == "missing":
			if wait != nil {
				s.missing[l.Seq] = l.Told
			}
		case l.isNews():
			if watch == nil {
				s.news = append(s.news, l)
			}
		case wait != nil:
			delete(s.waits, l.Seq)
			delete(s.missing, l.Seq)
			wait <- l
		}
		s.mu.Unlock()
		if l.isNews() && watch != nil {
			l.report(watch)
		}
	}
}

// tell answers the question what this process waits for.
func (s *Launched) tell(seq uint64, state func() string) {
	_ = s.say(line{Op: "stated", Seq: seq, Value: state()})
}

// say writes a line, unless the connection has ended. It does not hold mu meanwhile: the launcher may read nothing
// before listen, which needs mu, has read what the launcher is writing.
func (s *Launched) say(l line) error {
	s.mu.Lock()
	failure := s.failure
	s.mu.Unlock()
	if failure != nil {
		return failure
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.c.write(l)
}

// Answer sets the function that tells what this process waits for. Questions that came before, while
// the process was still joining the job, are answered now: an empty answer would say that it is stopped.
func (s *Launched) Answer(state func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
	for _, seq := range s.early {
		go s.tell(seq, state)
	}
	s.early = nil
}

// errServer reports that the connection to the rank that serves the job has ended. For errors.Is it is an ErrLauncher.
type errServer struct {
	rank  int
	cause error
}

func (e errServer) Error() string {
	return fmt.Sprintf("weft: the connection to rank %d, which serves the job, has ended (%v)", e.rank, e.cause)
}

func (e errServer) Is(target error) bool { return target == failure.ErrLauncher }

// lost ends all calls that wait, since the connection has ended. If a rank served the job, only that rank counts as
// dead; without the launcher, all ranks do.
func (s *Launched) lost(err error) {
	s.mu.Lock()
	s.failure = fmt.Errorf("%w (%v)", failure.ErrLauncher, err)
	if s.server >= 0 {
		s.failure = errServer{s.server, err}
	}
	for seq, w := range s.waits {
		close(w)
		delete(s.waits, seq)
	}
	watch := s.watch
	s.mu.Unlock()
	if watch != nil {
		watch(s.server, s.failure)
	}
}

// Put publishes a value.
func (s *Launched) Put(ctx context.Context, key, value string) error {
	return s.say(line{Op: "put", Key: key, Value: value})
}

// Get returns a value that a rank has put, and waits until there is one.
func (s *Launched) Get(ctx context.Context, rank int, key string) (string, error) {
	s.mu.Lock()
	value, ok := s.told[name(rank, key)]
	s.mu.Unlock()
	if ok {
		return value, nil
	}
	l, err := s.ask(ctx, line{Op: "get", Rank: rank, Key: key})
	return l.Value, err
}

// Fence waits until all ranks that have not ended have called it as often as this one.
func (s *Launched) Fence(ctx context.Context) error {
	_, err := s.ask(ctx, line{Op: "fence"})
	return err
}

// ask sends a line and waits for the reply with the same Seq, or until ctx ends. The error of a fence that is given
// up names the ranks that had not come. Any number of goroutines may ask at a time.
func (s *Launched) ask(ctx context.Context, l line) (line, error) {
	wait := make(chan line, 1)
	s.mu.Lock()
	if s.failure != nil {
		defer s.mu.Unlock()
		return line{}, s.failure
	}
	s.seq++
	l.Seq = s.seq
	s.waits[l.Seq] = wait
	s.mu.Unlock()
	if err := s.say(l); err != nil {
		return line{}, err
	}
	select {
	case l, ok := <-wait:
		if !ok {
			s.mu.Lock()
			defer s.mu.Unlock()
			return line{}, s.failure
		}
		return l, nil
	case <-ctx.Done():
		s.mu.Lock()
		missing := s.missing[l.Seq]
		delete(s.waits, l.Seq)
		delete(s.missing, l.Seq)
		s.mu.Unlock()
		if missing != nil {
			return line{}, &failure.MissingError{What: "come to the fence", Ranks: missing, Cause: ctx.Err()}
		}
		return line{}, ctx.Err()
	}
}

// Return says that this rank's program has ended.
func (s *Launched) Return(told []int) error {
	return s.say(line{Op: "return", Told: told})
}

// isNews reports whether a line is an event of another rank.
func (l line) isNews() bool { return l.Op == "down" || l.Op == "returned" }

// Await asks the server to tell of programs that have returned.
func (s *Launched) Await(rank int) { _ = s.say(line{Op: "await", Rank: rank}) }

// Watch reports ranks that have ended.
func (s *Launched) Watch(down func(rank int, cause error)) {
	s.mu.Lock()
	news := s.news
	failure := s.failure
	s.news = nil
	s.watch = down
	s.mu.Unlock()
	go func() {
		for _, l := range news {
			l.report(down)
		}
		if failure != nil {
			down(s.server, failure)
		}
	}()
}

// Fail says that this rank's program has failed.
func (s *Launched) Fail(cause string, because int) {
	l := line{Op: "fail", Value: cause}
	if because >= 0 {
		l.Told = []int{because}
	}
	_ = s.say(l) // the launcher that is gone has ended the job
}

// Record sends the launcher a piece of what this rank has recorded, of at most MostRecord bytes.
func (s *Launched) Record(chunk []byte) error {
	if s.server >= 0 {
		return errors.New("weft: no launcher of this job accepts recordings: weft run does")
	}
	return s.say(line{Op: "record", Bytes: chunk})
}

// OnRecord makes the source call send, from a goroutine of its own, when the launcher is about to kill this process and
// asks for what it has recorded.
func (s *Launched) OnRecord(send func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record = send
}

// Close leaves the job and closes the connection. For calls that come later the launcher is gone.
func (s *Launched) Close() error {
	_ = s.say(line{Op: "leave"}) // if it fails, the rank counts as not having left
	s.mu.Lock()
	if s.failure == nil {
		s.failure = fmt.Errorf("%w (this rank has left)", failure.ErrLauncher)
	}
	s.mu.Unlock()
	return s.c.Close()
}
