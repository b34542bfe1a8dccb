//go:build linux

package agent

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"weft/internal/process"
)

// envAgent makes the test's executable an agent.
const envAgent = "WEFT_TEST_AGENT"

func TestMain(m *testing.M) {
	process.Guarded()
	if os.Getenv(envAgent) != "" {
		if err := Serve(os.Stdin, os.Stdout, "test"); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A near is a starter whose agent runs in this process.
type near struct {
	input  *io.PipeReader // of the agent
	output *io.PipeWriter
}

func (n *near) Start(_ process.Order, s process.Streams, ended func(process.Exit)) (int, error) {
	in, toAgent := io.Pipe()
	fromAgent, out := io.Pipe()
	n.input = in
	n.output = out
	go s.Stdin(toAgent)
	read := make(chan struct{})
	go func() {
		s.Stdout(fromAgent)
		close(read)
	}()
	go func() {
		io.WriteString(out, "welcome to this host\n")
		_ = Serve(in, out, "test")
		out.Close()
		<-read
		ended(process.Exit{Cause: "over"})
	}()
	return 1, nil
}

func (n *near) Signal(int, syscall.Signal) bool {
	n.input.CloseWithError(io.EOF)
	n.output.CloseWithError(io.EOF)
	return true
}

// connect returns a Remote whose agent has been told of a job.
func connect(t *testing.T) (*Remote, *near) {
	t.Helper()
	n := &near{}
	r, err := Connect(t.Context(), "there", n, process.Order{Program: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	hash, err := HashFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	if r.Hello.Version != "test" || r.Hello.Where.Machine == "" {
		t.Errorf("%+v", r.Hello)
	}
	reply, err := r.Begin(Begin{Name: "there", Program: "/bin/sh", Hash: hash, Dir: "/tmp", Bind: "127.0.0.1"})
	if err != nil || reply.Dir != "/tmp" || reply.Wanted || reply.Address != "127.0.0.1" {
		t.Fatalf("%+v, %v", reply, err)
	}
	return r, n
}

// shell starts a shell there, with its output in a buffer.
func shell(t *testing.T, r *Remote, id int, text string, s process.Streams) (exit <-chan process.Exit) {
	t.Helper()
	ended := make(chan process.Exit, 1)
	o := process.Order{ID: id, Program: "/bin/sh", Args: []string{"-c", text}}
	if _, err := r.Start(o, s, func(e process.Exit) { ended <- e }); err != nil {
		t.Fatal(err)
	}
	return ended
}

// A process on another host is like one here: its streams, its connection, its end.
func TestProcessThere(t *testing.T) {
	r, _ := connect(t)
	defer r.Close()
	var out, errs, said bytes.Buffer
	heard := make(chan struct{})
	exit := shell(t, r, 7, "cat; echo oops >&2; echo hello >&3; read answer <&3; echo $answer; exit 3", process.Streams{
		Stdin: func(w io.WriteCloser) {
			w.Write(bytes.Repeat([]byte("0123456789abcdef"), 20000)) // more than a window
			w.Close()
		},
		Stdout: func(from io.Reader) { io.Copy(&out, from) },
		Stderr: func(from io.Reader) { io.Copy(&errs, from) },
		Launcher: func(c io.ReadWriteCloser) {
			io.CopyN(&said, c, int64(len("hello\n")))
			io.WriteString(c, "goodbye\n")
			io.Copy(io.Discard, c)
			c.Close()
			close(heard)
		},
	})
	e := <-exit
	<-heard
	if e.Status != 3 || e.Signaled || errs.String() != "oops\n" || said.String() != "hello\n" {
		t.Errorf("%+v: %q, %q", e, &errs, &said)
	}
	if want := strings.Repeat("0123456789abcdef", 20000) + "goodbye\n"; out.String() != want {
		t.Errorf("%d bytes of output, not %d", out.Len(), len(want))
	}
	exit = shell(t, r, 8, "kill -9 $$", process.Streams{})
	if e := <-exit; e.Status != 128+9 || !e.Signaled {
		t.Errorf("%+v", e)
	}
}

// An output that nobody reads holds up no other one, and no order.
func TestWindowsAreApart(t *testing.T) {
	r, _ := connect(t)
	defer r.Close()
	unread := make(chan struct{})
	endless := shell(t, r, 1, "yes", process.Streams{Stdout: func(from io.Reader) {
		<-unread
		io.Copy(io.Discard, from)
	}})
	var out bytes.Buffer
	e := <-shell(t, r, 2, "echo through", process.Streams{Stdout: func(from io.Reader) { io.Copy(&out, from) }})
	if e.Status != 0 || out.String() != "through\n" {
		t.Errorf("%+v: %q", e, &out)
	}
	if !r.Signal(1, syscall.SIGKILL) {
		t.Error("it had ended")
	}
	close(unread)
	if e := <-endless; e.Status != 128+9 {
		t.Errorf("%+v", e)
	}
	if r.Signal(1, syscall.SIGKILL) || r.Stop(1) {
		t.Error("it has not ended")
	}
}

// When the agent goes, what ran there has ended, and nothing can be started.
func TestAgentGoes(t *testing.T) {
	r, n := connect(t)
	exit := shell(t, r, 1, "sleep 1000", process.Streams{})
	n.Signal(0, 0)
	if e := <-exit; e.Status != statusGone || !e.Signaled || !strings.HasPrefix(e.Cause, "its host is gone: ") {
		t.Errorf("%+v", e)
	}
	if _, err := r.Start(process.Order{ID: 2, Program: "/bin/true"}, process.Streams{},
		func(process.Exit) {}); err == nil {
		t.Error("started on a host that is gone")
	}
	r.Close()
}

// An agent that has been silent for too long counts as gone.
func TestSilence(t *testing.T) {
	l := newLink(io.Discard)
	l.heard.Store(0)
	l.beat(time.Second, 8*time.Millisecond)
	if err := l.reason(); !errors.Is(err, errSilent) {
		t.Error(err)
	}
}

// More than the window is refused, and so are frames that are too long.
func TestProtocolIsKept(t *testing.T) {
	frame := func(h head, body []byte) []byte { return append(appendHead(nil, h), body...) }
	long := frame(head{kindData, 4, maxData}, make([]byte, maxData))
	for _, c := range []struct {
		what string
		in   []byte
		want error
	}{
		{"a window", append(append([]byte(nil), long...), long...), io.EOF},
		{"more than a window", bytes.Repeat(long, 3), ErrProtocol},
		{"a stream that is not open", frame(head{kindData, 5, 1}, []byte{0}), io.EOF},
		{"room that is there already", frame(head{kindWindow, 4, 4}, []byte{1, 0, 0, 0}), ErrProtocol},
		{"a kind that is not known", frame(head{9, 0, 0}, nil), ErrProtocol},
		{"a long frame", frame(head{kindData, 4, maxData + 1}, nil), ErrProtocol},
		{"a message of a stream", frame(head{kindMessage, 4, 2}, []byte("{}")), ErrProtocol},
		{"no message", frame(head{kindMessage, 0, 2}, []byte("{]")), ErrProtocol},
		{"an end", long[:100], io.ErrUnexpectedEOF},
		{"a file that nobody takes", frame(head{kindFile, 0, 2}, []byte("#!")), ErrProtocol},
	} {
		l := newLink(io.Discard)
		l.open(4)
		err := l.run(bytes.NewReader(c.in), func(message) error { return nil })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// Whatever a peer sends, it makes a link hold no more than it allows.
func FuzzLink(f *testing.F) {
	f.Add(appendHead(nil, head{kindMessage, 0, 2}))
	f.Add(append(appendHead(nil, head{kindFile, 0, 2}), "#!"...))
	f.Add(append(appendHead(nil, head{kindMessage, 0, 13}), `{"op":"beat"}`...))
	f.Add(append(appendHead(nil, head{kindData, 4, 2}), 1, 2))
	f.Add(append(appendHead(nil, head{kindEnd, 4, 1}), 1))
	f.Add(append(appendHead(nil, head{kindWindow, 4, 4}), 1, 0, 0, 0))
	f.Fuzz(func(t *testing.T, in []byte) {
		if h, err := parseHead(in); err == nil && !bytes.Equal(appendHead(nil, h), in[:headLen]) {
			t.Fatalf("%+v", h)
		}
		l := newLink(io.Discard)
		s := l.open(4)
		a := &agent{link: l}
		l.file = a.receive
		if err := l.run(bytes.NewReader(in), a.handle); err == nil {
			t.Fatal("no error at the end")
		}
		if len(s.got) > window || s.room > window {
			t.Fatalf("%d bytes held, %d may be sent", len(s.got), s.room)
		}
		a.close()
	})
}

// A begin that is fuzzed makes no files: the hello alone may come before it.
func TestBeginFirst(t *testing.T) {
	a := &agent{link: newLink(io.Discard)}
	for _, op := range []string{"start", "put", "hand", "signal", "stop", "exiting", ""} {
		if err := a.handle(message{Op: op}); !errors.Is(err, ErrProtocol) {
			t.Errorf("%q before begin: %v", op, err)
		}
	}
}

// A mute is a starter whose agent says hello, takes one order, and goes.
type mute struct{}

func (mute) Start(_ process.Order, s process.Streams, ended func(process.Exit)) (int, error) {
	in, toAgent := io.Pipe()
	fromAgent, out := io.Pipe()
	go s.Stdin(toAgent)
	go func() {
		s.Stdout(fromAgent)
		ended(process.Exit{Cause: "over"})
	}()
	go func() {
		io.WriteString(out, greeting)
		l := newLink(out)
		_ = l.say(message{Op: "hello", Hello: &Hello{}})
		_ = l.run(in, func(message) error { return errBye })
		out.Close()
		io.Copy(io.Discard, in)
	}()
	return 1, nil
}

func (mute) Signal(int, syscall.Signal) bool { return true }

// A host that goes while an agent is started by way of it is no reason to wait for ever.
func TestHostGoesMeanwhile(t *testing.T) {
	for range 50 {
		r, err := Connect(t.Context(), "there", mute{}, process.Order{Program: "agent"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Connect(t.Context(), "beyond", r, process.Order{ID: 9, Program: "agent"}); err == nil {
			t.Error("there is an agent")
		}
	}
}

// The program is passed on by the agent by way of which another one was started: the launcher has none that it
// could send. Where that agent has none either, the launcher sends it.
func TestProgramIsHandedOn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	text := append([]byte("#!/bin/sh\necho passed on\nexit\n"), bytes.Repeat([]byte("0123456789abcdef"), 1<<18)...)
	if err := os.WriteFile(program, text, 0o700); err != nil {
		t.Fatal(err)
	}
	hash, err := HashFile(program)
	if err != nil {
		t.Fatal(err)
	}
	connect := func(via starter, id int) *Remote {
		r, err := Connect(t.Context(), "there", via, process.Order{ID: id, Program: self, Env: []string{envAgent + "=1"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	begin := func(r *Remote, program string) Reply {
		reply, err := r.Begin(Begin{Name: "there", Program: program, Hash: hash, Bind: "127.0.0.1", Copy: true})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	run := func(r *Remote, program string) {
		var out bytes.Buffer
		ended := make(chan process.Exit, 1)
		_, err := r.Start(process.Order{ID: 99, Program: program},
			process.Streams{Stdout: func(from io.Reader) { io.Copy(&out, from) }},
			func(e process.Exit) { ended <- e })
		if err != nil {
			t.Fatal(err)
		}
		if e := <-ended; e.Status != 0 || out.String() != "passed on\n" {
			t.Errorf("%+v: %q", e, &out)
		}
	}
	const nowhere = "/nowhere/program"
	plain := program + ".plain" // which cannot be run
	if err := os.WriteFile(plain, text, 0o600); err != nil {
		t.Fatal(err)
	}
	first := connect(&near{}, 1)
	run(first, begin(first, plain).Program)
	second := connect(first, 2)
	run(second, begin(second, nowhere).Program)
	third := connect(second, 3)
	run(third, begin(third, nowhere).Program)

	other := connect(&near{}, 4)
	if reply := begin(other, program); reply.Wanted {
		t.Errorf("%+v", reply)
	}
	if err := os.Remove(program); err != nil { // it is not where the agent has found it
		t.Fatal(err)
	}
	last := connect(other, 5)
	run(last, begin(last, plain).Program)
	none := connect(other, 6)
	if _, err := none.Begin(Begin{Name: "there", Program: nowhere, Hash: hash, Bind: "127.0.0.1",
		Copy: true}); err == nil {
		t.Error("a program has come from nowhere")
	}
}
