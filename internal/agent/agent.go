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

// greeting is the line with which an agent begins: what a shell of the host has
// written before it is skipped. The number is the version of the protocol.
const greeting = "weft agent 1\n"

// A Hello is what an agent tells of its host first.
type Hello struct {
	Version  string // of weft
	OS, Arch string
	Where    sys.Identity
	Cores    [][]int `json:",omitempty"` // see sys.Cores
}

// A Begin is what a launcher tells an agent of the job.
type Begin struct {
	Name      string        // of the host, as the launcher's user calls it
	Silence   time.Duration // after which the launcher counts as gone; negative for never
	Beat      time.Duration // how often the launcher wants to hear from the agent
	Program   string        // an absolute path
	Hash      string        // of the program's bytes: SHA-256 in hexadecimal
	Dir       string        // where the ranks are to run, if there is such a directory
	Bind      string        `json:",omitempty"` // the launcher's WEFT_BIND, if its ranks get it
	Interface string        `json:",omitempty"` // and its WEFT_INTERFACE
	Copy      bool          `json:",omitempty"` // the program may be copied
}

// A Reply is an agent's answer to it.
type Reply struct {
	Dir     string // where the ranks run
	Program string // where the program lies
	Wanted  bool   `json:",omitempty"` // it must be copied first
	Address string `json:",omitempty"` // for packets of the ranks
}

// mostID bounds the numbers of processes: each has four streams.
const mostID = 1 << 29

// An agent serves one launcher.
type agent struct {
	link    *link
	host    *process.Host
	dir     string // private, or ""
	path    string // of the program's copy
	hash    string
	program string   // where it lies
	put     *message // that has announced it

	mu    sync.Mutex
	feeds map[int]*feed // of processes
}

// Serve is an agent's life: it returns when the launcher has said goodbye, has gone or
// is silent, and nothing is left of what the agent has started.
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

// errBye ends the link in good order.
var errBye = errors.New("bye")

// close ends all that runs here.
func (a *agent) close() {
	if a.host != nil {
		_ = a.host.Close() // there is nobody to tell
	}
}

// handle does what a message says. Only answers may take time: the launcher always
// reads.
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

// begin makes the host ready, and tells how it is.
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

// check says what is wrong with the program that lies here.
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

// HashFile returns the hash of a file's bytes, as Begin has it.
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

// workingDir returns the directory in which ranks run: the launcher's if it is here, too,
// else the user's.
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

// start starts a process, whose streams are there from now on.
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
			_, _ = io.Copy(f, st) // it need not be read
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

// setFeed takes note of the standard input of a process.
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

// passOn sends an output to the launcher.
func passOn(to *stream) func(io.Reader) {
	return func(from io.Reader) {
		_, _ = io.Copy(to, from) // a link that has failed ends everything
		to.Close()
	}
}

// join joins a process's connection and a stream.
func join(c io.ReadWriteCloser, s *stream) {
	go func() {
		_, _ = io.Copy(c, s)
		c.Close()
	}()
	_, _ = io.Copy(s, c)
	s.Close()
}
