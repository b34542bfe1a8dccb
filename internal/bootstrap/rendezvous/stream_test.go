package rendezvous

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"weft/internal/handshake"
)

// A rank that does not read what it is sent is dropped when too much waits, and others are served
// meanwhile.
func TestSlowReader(t *testing.T) {
	here, there := net.Pipe() // nobody reads at the other end
	defer there.Close()
	s := newStream(here, talk(), false)
	line := bytes.Repeat([]byte{'x'}, 1<<20)
	n := 0
	for ; n < 100; n++ {
		if _, err := s.Write(line); err != nil {
			if !errors.Is(err, errSlow) {
				t.Error(err)
			}
			break
		}
	}
	if n < mostQueued>>20 || n > mostQueued>>20+1 {
		t.Errorf("%d MiB were queued", n)
	}
}

// talk returns what two sides have in common after a handshake: always the same.
var talk = sync.OnceValue(func() handshake.Session {
	pair := handshake.Pair{Secret: secret, Dialler: 1}
	caller := pair.Call(protocol)
	find := func(uint32, uint32) (handshake.Pair, error) { return pair, nil }
	callee, err := handshake.Hear(caller.Hello(), protocol, find)
	if err == nil {
		_, err = caller.Reply(callee.Reply())
	}
	if err != nil {
		panic(err)
	}
	return caller.Session
})

// What lies on the way of a stream and is not a record of its peer ends it.
func FuzzRecords(f *testing.F) {
	here := newStream(nil, talk(), true)
	f.Add(here.seal.Append(nil, []byte(`{"op":"join"}`+"\n"), nil))
	// a head alone
	f.Add(append(newStream(nil, talk(), true).seal.Append(nil, []byte(`{"op":"join"}`+"\n"), nil), 48, 0, 0, 0))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		s := newStream(end{bytes.NewReader(b)}, talk(), false)
		n, err := io.Copy(io.Discard, s)
		if err == nil && n > 0 &&
			!bytes.Equal(b, newStream(nil, talk(), true).seal.Append(nil, []byte(`{"op":"join"}`+"\n"), nil)) {
			t.Errorf("%d bytes that nobody has sealed", n)
		}
	})
}

// An end is a connection that only reads.
type end struct{ *bytes.Reader }

func (end) Write([]byte) (int, error)        { return 0, io.ErrClosedPipe }
func (end) Close() error                     { return nil }
func (end) LocalAddr() net.Addr              { return nil }
func (end) RemoteAddr() net.Addr             { return nil }
func (end) SetDeadline(time.Time) error      { return nil }
func (end) SetReadDeadline(time.Time) error  { return nil }
func (end) SetWriteDeadline(time.Time) error { return nil }
