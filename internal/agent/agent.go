package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"weft/internal/process"
	"weft/internal/sys"
)

// greeting is the first line of an agent. The launcher skips what a login shell has written before it. The number is
// the version of the protocol.
const greeting = "weft agent 1\n"

// A Hello is an agent's first message, which describes its host.
type Hello struct {
	Version  string // of weft
	OS, Arch string
	Where    sys.Identity
	Cores    [][]int `json:",omitempty"` // see sys.Cores
	CPUs     float64 // see sys.CPUs
}

// A Begin is the launcher's first message, which describes the job.
type Begin struct {
	Name      string        // the user's name for the host
	Silence   time.Duration // after which the launcher counts as dead; negative for never
	Beat      time.Duration // the agent sends something at least this often
	Program   string        // an absolute path
	Hash      string        // SHA-256 of the program's file, in hexadecimal
	Dir       string        // working directory of the ranks, if the host has it
	Bind      string        `json:",omitempty"` // WEFT_BIND of the ranks, if it is set
	Interface string        `json:",omitempty"` // WEFT_INTERFACE of the ranks, if it is set
	Copy      bool          `json:",omitempty"` // the program may be copied to the host
}

// A Reply is an agent's answer to a Begin.
type Reply struct {
	Dir     string // working directory of the ranks
	Program string // path of the program
	Wanted  bool   `json:",omitempty"` // the launcher must send the program first
	Address string `json:",omitempty"` // address of the host for packets of the ranks
}

// mostID bounds the numbers of processes, each of which has four streams.
const mostID = 1 << 29

// An agent serves one launcher.
type agent struct {
	link    *link
	host    *process.Host
	dir     string   // private directory, or ""
	path    string   // of the program's copy
	hash    string   // of the program
	program string   // path of the program that ranks run
	put     *message // the message that has announced a copy

	mu    sync.Mutex
	feeds map[int]*feed // standard inputs, by process
}

// Serve is the main function of an agent. It returns when the launcher has said goodbye, has disconnected or is silent.
// Then all processes that the agent has started have ended.
func Serve(in io.Reader, out io.Writer, version string) error {
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
	if _, err := io.WriteString(out, greeting); err != nil {
		return err
	}
	a := &agent{link: newLink(out), feeds: map[int]*feed{}}
	a.link.file = a.receive
	defer a.close()
	err := a.link.say(message{Op: "hello", Hello: &Hello{
		Version: version, OS: runtime.GOOS, Arch: runtime.GOARCH, Where: sys.Identify(), Cores: sys.Cores(),
		CPUs: sys.CPUs(),
	}})
	if err != nil {
		return err
	}
	go func() { a.link.fail(a.link.run(in, a.handle)) }()
	<-a.link.over
	if err := a.link.reason(); !errors.Is(err, errBye) {
		return fmt.Errorf("weft: the launcher is gone: %w", err)
	}
	return nil
}

// errBye is why a link has ended after a goodbye.
var errBye = errors.New("bye")

// close ends all processes.
func (a *agent) close() {
	if a.host != nil {
		_ = a.host.Close() // the launcher does not hear any more
	}
}

// handle executes a message. It does not block, but for sending answers, since the launcher always reads.
func (a *agent) handle(m message) error {
	if a.host == nil && m.Op != "begin" && m.Op != "bye" {
		return fmt.Errorf("%w: %q comes before begin", ErrProtocol, m.Op)
	}
	switch m.Op {
	case "begin":
		if m.Begin == nil || a.host != nil {
			return fmt.Errorf("%w: begin", ErrProtocol)
		}
		return a.begin(m)
	case "start":
		if m.Order == nil || m.Order.ID < 0 || m.Order.ID >= mostID {
			return fmt.Errorf("%w: start", ErrProtocol)
		}
		a.start(m)
	case "put":
		a.put = &m
	case "hand":
		go a.hand(m)
	case "signal":
		a.host.Signal(m.ID, syscall.Signal(m.Value))
	case "stop":
		go func() { _ = a.answer(m, message{OK: a.host.Stop(m.ID)}, nil) }()
	case "exiting":
		go func() { _ = a.answer(m, message{IDs: a.host.Exiting()}, nil) }()
	case "bye":
		return errBye
	default:
		return fmt.Errorf("%w: %q", ErrProtocol, m.Op)
	}
	return nil
}

// answer answers a question.
func (a *agent) answer(to, m message, err error) error {
	m.Op = "answer"
	m.Seq = to.Seq
	m.ID = to.ID
	if err != nil {
		m.Error = err.Error()
	}
	return a.link.say(m)
}

// begin prepares the host for the job, and answers with a Reply.
func (a *agent) begin(m message) error {
	b := m.Begin
	if b.Copy {
		dir, err := os.MkdirTemp("", "weft-run-")
		if err != nil {
			return a.answer(m, message{}, err)
		}
		a.dir = dir
	}
	host, err := process.Open(a.dir)
	if err != nil {
		os.RemoveAll(a.dir)
		return a.answer(m, message{}, err)
	}
	a.host = host
	if b.Silence > 0 {
		go a.link.beat(b.Beat, b.Silence)
	}
	go func() {
		reply := Reply{Dir: workingDir(b.Dir), Program: b.Program}
		err := a.check(b)
		if err != nil && b.Copy {
			a.path = filepath.Join(a.dir, filepath.Base(b.Program))
			a.hash = b.Hash
			reply.Program = a.path
			reply.Wanted = true
			err = nil
		} else {
			a.program = b.Program
		}
		if err == nil {
			reply.Address, err = address(b)
		}
		_ = a.answer(m, message{Reply: &reply}, err)
	}()
	return nil
}

// check returns an error if the host has no program at the path, or another one than the launcher.
func (a *agent) check(b *Begin) error {
	info, err := os.Stat(b.Program)
	switch {
	case err != nil:
		return fmt.Errorf("there is no program %s; say -copy", b.Program)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is no program; say -copy", b.Program)
	}
	hash, err := HashFile(b.Program)
	if err != nil {
		return err
	}
	if hash != b.Hash {
		return fmt.Errorf("%s is another program than here; say -copy", b.Program)
	}
	return nil
}

// HashFile returns the SHA-256 of a file in hexadecimal, as Begin carries it.
func HashFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// workingDir returns the directory in which ranks run: dir if the host has it, or else the user's home.
func workingDir(dir string) string {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "/"
	}
	return home
}

// Streams of a process.
const (
	streamStdin = iota
	streamStdout
	streamStderr
	streamLauncher
)

// streamOf returns the number of a process's stream.
func streamOf(id int, which uint32) uint32 { return uint32(id)*4 + which }

// start starts a process. Its streams are open when start returns.
func (a *agent) start(m message) {
	var s process.Streams
	o := m.Order
	var opened []*stream
	open := func(which uint32) *stream {
		st := a.link.open(streamOf(o.ID, which))
		opened = append(opened, st)
		return st
	}
	if o.Stdin {
		st := open(streamStdin)
		s.Stdin = func(to io.WriteCloser) {
			f := newFeed(to)
			a.setFeed(o.ID, f)
			_, _ = io.Copy(f, st) // fails if the process closes its standard input
			f.end()
			to.Close()
			st.Close()
		}
	}
	if o.Stdout {
		s.Stdout = passOn(open(streamStdout))
	}
	if o.Stderr {
		s.Stderr = passOn(open(streamStderr))
	}
	if o.Launcher {
		st := open(streamLauncher)
		s.Launcher = func(c io.ReadWriteCloser) { join(c, st) }
	}
	go func() {
		ended := make(chan process.Exit, 1)
		pid, err := a.host.Start(o.Order, s, func(e process.Exit) { ended <- e })
		_ = a.answer(m, message{PID: pid}, err)
		if err != nil {
			for _, st := range opened {
				st.Close()
			}
			return
		}
		e := <-ended
		_ = a.link.say(message{Op: "ended", ID: o.ID, Exit: &e})
	}()
}

// setFeed remembers the standard input of a process.
func (a *agent) setFeed(id int, f *feed) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.feeds[id] = f
}

// feed returns the standard input of a process, or nil.
func (a *agent) feed(id int) *feed {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.feeds[id]
}

// passOn copies an output of a process to the launcher.
func passOn(to *stream) func(io.Reader) {
	return func(from io.Reader) {
		_, _ = io.Copy(to, from) // a link that has failed ends the agent anyway
		to.Close()
	}
}

// join copies between a process's connection to the launcher and its stream, in both directions.
func join(c io.ReadWriteCloser, s *stream) {
	go func() {
		_, _ = io.Copy(c, s)
		c.Close()
	}()
	_, _ = io.Copy(s, c)
	s.Close()
}
