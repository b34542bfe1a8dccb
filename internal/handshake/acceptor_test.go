package handshake

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// calls is a listener whose calls a test makes.
type calls chan any // a net.Conn, or an error

func (c calls) accept() (net.Conn, error) {
	switch v := (<-c).(type) {
	case net.Conn:
		return v, nil
	case error:
		return nil, v
	}
	return nil, net.ErrClosed
}

// call makes a call, and returns the caller's end.
func (c calls) call() net.Conn {
	here, there := net.Pipe()
	c <- there
	return here
}

// open starts a acceptor whose visitors must say one byte, and returns what becomes of
// each.
func open(t *testing.T, most int) (*Acceptor, calls, chan error) {
	c := make(calls)
	ends := make(chan error, 100)
	d := &Acceptor{Limit: most, Handshake: func(v *Attempt) error {
		_, err := io.ReadFull(v.Conn, make([]byte, 1))
		if err == nil {
			err = v.Admit()
		}
		ends <- err
		return err
	}}
	served := make(chan bool)
	go func() {
		d.Serve(c.accept)
		close(served)
	}()
	t.Cleanup(func() {
		close(c)
		<-served
	})
	return d, c, ends
}

// A listener goes on after an error: it may have been short of descriptors.
func TestDoorOutlivesErrors(t *testing.T) {
	d, c, ends := open(t, 4)
	for range 3 {
		c <- errors.New("too many open files")
	}
	c.call().Write([]byte{1})
	if err := <-ends; err != nil || d.Failures.Load() != 3 {
		t.Errorf("%v after %d failures", err, d.Failures.Load())
	}
}

// A peer that says nothing is dropped when others come: the oldest first.
func TestDoorDropsTheOldest(t *testing.T) {
	const most = 8
	d, c, ends := open(t, most)
	var silent []net.Conn
	for range most + 5 {
		silent = append(silent, c.call())
	}
	for range 5 {
		if err := <-ends; err == nil {
			t.Error("a silent visitor was let in")
		}
	}
	for i, s := range silent {
		s.SetWriteDeadline(time.Now().Add(time.Minute))
		_, err := s.Write([]byte{1})
		if i < 5 && !errors.Is(err, io.ErrClosedPipe) || i >= 5 && err != nil {
			t.Errorf("visitor %d: %v", i, err)
		}
	}
	for range most {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	if d.Dropped.Load() != 5 || len(d.attempts) != 0 {
		t.Errorf("%d dropped, %d left", d.Dropped.Load(), len(d.attempts))
	}
}

// A descriptor that is missing is taken from the attempt that has waited longest.
func TestDoorGivesDescriptorsBack(t *testing.T) {
	_, c, ends := open(t, 8)
	c.call()
	c <- errors.New("too many open files")
	if err := <-ends; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the oldest ended with %v", err)
	}
}

// A crowded acceptor is less patient; a peer that has been let in has no deadline and is
// never dropped.
func TestDoorDeadlines(t *testing.T) {
	const most = 4
	synctest.Test(t, func(t *testing.T) {
		_, c, ends := open(t, most)
		guest := c.call()
		guest.Write([]byte{1})
		if err := <-ends; err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		c.call()
		if err := <-ends; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != Timeout {
			t.Errorf("at an empty acceptor: %v after %v", err, time.Since(began))
		}
		for range 2 * most {
			c.call()
		}
		for range most {
			if err := <-ends; !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("dropped: %v", err)
			}
		}
		began = time.Now()
		for range most {
			if err := <-ends; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != Timeout/10 {
				t.Errorf("at a full acceptor: %v after %v", err, time.Since(began))
			}
		}
		guest.SetReadDeadline(time.Now())
		if _, err := guest.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the guest: %v", err)
		}
	})
}

// A peer that is dropped in the moment of its proof is not let in.
func TestDoorDropsOrAdmits(t *testing.T) {
	c := make(calls)
	proved := make(chan bool)
	ends := make(chan error, 2)
	d := &Acceptor{Limit: 1, Handshake: func(v *Attempt) error {
		<-proved
		err := v.Admit()
		ends <- err
		return err
	}}
	go d.Serve(c.accept)
	defer close(c)
	c.call()
	c.call()
	c <- errors.New("an error, so that the second call has been accepted")
	for d.Dropped.Load() < 2 { // the second makes room for nobody: a descriptor is missing
		runtime.Gosched()
	}
	close(proved)
	for range 2 {
		if err := <-ends; err != errDropped {
			t.Errorf("dropped, and let in: %v", err)
		}
	}
}

// A dialler tries again when it was cut off, and not when it was refused.
func TestGreet(t *testing.T) {
	n := 0
	err := Retry(func() (bool, error) {
		if n++; n < 3 {
			return true, io.EOF
		}
		return false, nil
	})
	if err != nil || n != 3 {
		t.Errorf("%d tries, %v", n, err)
	}
	n = 0
	refused := errors.New("refused")
	if err := Retry(func() (bool, error) { n++; return false, refused }); err != refused || n != 1 {
		t.Errorf("%d tries, %v", n, err)
	}
	n = 0
	if err := Retry(func() (bool, error) { n++; return true, io.EOF }); err != io.EOF || n != tries {
		t.Errorf("%d tries, %v", n, err)
	}
}
