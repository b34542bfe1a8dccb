package handshake

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"weft/internal/sys"
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

// Peers that say nothing are dropped when others come, and one that has shown more is not.
func TestDoorDropsStrangers(t *testing.T) {
	const most = 8
	c := make(calls)
	ends := make(chan error, 100)
	d := &Acceptor{Limit: most, Handshake: func(v *Attempt) error {
		b := make([]byte, 1)
		for {
			if _, err := io.ReadFull(v.Conn, b); err != nil {
				ends <- err
				return err
			}
			if b[0] == 1 {
				ends <- nil
				return v.Admit()
			}
			v.Favour()
			v.Conn.Write(b)
		}
	}}
	go d.Serve(c.accept)
	defer close(c)
	rank := c.call()
	rank.Write([]byte{2})
	rank.Read(make([]byte, 1))
	for range most + 20 {
		c.call()
	}
	for range 21 {
		if err := <-ends; err == nil {
			t.Error("a silent visitor was let in")
		}
	}
	rank.Write([]byte{1})
	if err := <-ends; err != nil || d.Dropped.Load() != 21 {
		t.Errorf("%v, and %d dropped", err, d.Dropped.Load())
	}
}

// from is a connection from an address.
type from struct {
	net.Conn
	host byte
}

func (f from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, f.host)} }

// The host with the most handshakes in progress makes room for others.
func TestDoorIsFairToHosts(t *testing.T) {
	_, c, ends := open(t, 8)
	here, there := net.Pipe()
	c <- from{there, 1}
	for range 1000 {
		_, flood := net.Pipe()
		c <- from{flood, 2}
	}
	for range 1001 - 8 {
		if err := <-ends; err == nil {
			t.Error("a silent visitor was let in")
		}
	}
	here.Write([]byte{1})
	if err := <-ends; err != nil {
		t.Errorf("the only one of its host: %v", err)
	}
}

// Ten thousand strangers a second, with the address of a rank, delay the rank by no more than seconds when a message
// takes 20 ms, and the longest exchange waits for two round trips. Time is virtual.
func TestFloodDelaysRanks(t *testing.T) {
	const (
		each    = time.Second / 10000
		oneWay  = 20 * time.Millisecond
		bearing = 5 * time.Second
	)
	pair := Pair{Secret: []byte("the secret of a test"), Dialler: 1}
	synctest.Test(t, func(t *testing.T) {
		c := make(calls)
		d := &Acceptor{Limit: Room(2), Handshake: func(v *Attempt) error {
			said, err := v.Answer("test", func(uint32, uint32) (Pair, error) { return pair, nil })
			if err == nil {
				err = v.Admit()
			}
			if err == nil {
				_, err = v.Conn.Write(said.Last(Accepted))
			}
			return err
		}}
		var wg sync.WaitGroup
		wg.Go(func() { d.Serve(c.accept) })
		stop := make(chan bool)
		var flood sync.WaitGroup
		flood.Go(func() {
			for {
				select {
				case <-time.After(each):
					_, there := net.Pipe()
					c <- there
				case <-stop:
					return
				}
			}
		})
		<-time.After(time.Second)
		began := time.Now()
		err := Retry(nil, func() (bool, error) {
			here, there := net.Pipe()
			<-time.After(2 * oneWay) // until it is connected
			c <- there
			_, err := pair.Dial(slow{here, oneWay}, "test")
			return WasCut(err), err
		})
		if took := time.Since(began); err != nil || took > bearing {
			t.Errorf("%v after %v", err, took)
		}
		close(stop)
		flood.Wait()
		close(c)
		wg.Wait()
	})
}

// slow is a connection over which a message takes some time.
type slow struct {
	net.Conn
	oneWay time.Duration
}

func (s slow) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	<-time.After(s.oneWay)
	return n, err
}

func (s slow) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	<-time.After(s.oneWay)
	return n, err
}

// A descriptor that is missing is taken from an attempt of a stranger.
func TestDoorGivesDescriptorsBack(t *testing.T) {
	_, c, ends := open(t, 8)
	c.call()
	c <- errors.New("too many open files")
	c <- errors.New("too many open files")
	if err := <-ends; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("it ended with %v", err)
	}
}

// Without a descriptor an acceptor drops no attempt of a peer that has shown the secret, and none for a single error.
func TestDoorKeepsTheFavoured(t *testing.T) {
	c := make(calls)
	d := &Acceptor{Limit: 8, Handshake: func(v *Attempt) error {
		v.Favour()
		v.Conn.Write([]byte{1})
		_, err := io.ReadFull(v.Conn, make([]byte, 1))
		return err
	}}
	served := make(chan bool)
	go func() {
		d.Serve(c.accept)
		close(served)
	}()
	rank := c.call()
	rank.Read(make([]byte, 1))
	for range 4 {
		c <- errors.New("too many open files")
	}
	rank.Write([]byte{1})
	close(c)
	<-served
	if d.Dropped.Load() != 0 {
		t.Error("the attempt of a rank was dropped")
	}
}

// A listener has room for all ranks and 64 strangers, and takes no more than an eighth of the descriptors.
func TestRoom(t *testing.T) {
	fds := sys.MaxFDs()
	for ranks, want := range map[int]int{2: min(2+64, max(fds/8, 4)), 1 << 30: max(fds/8, 4)} {
		if got := Room(ranks); got != want {
			t.Errorf("%d ranks: room for %d, want %d", ranks, got, want)
		}
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
		soon := 0 // those that came when half of the acceptor was taken
		for range most {
			err := <-ends
			took := time.Since(began)
			if took == Timeout/10 {
				soon++
			}
			if !errors.Is(err, os.ErrDeadlineExceeded) || took != Timeout/10 && took != Timeout {
				t.Errorf("at a full acceptor: %v after %v", err, took)
			}
		}
		if soon < most/2 {
			t.Errorf("%d of %d had less time", soon, most)
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
	c <- errors.New("another one")
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

// A dialler tries again when it was cut off, for half a minute, and not when it was refused.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		err := Retry(nil, func() (bool, error) {
			if n++; n < 30 {
				return true, io.EOF
			}
			return false, nil
		})
		if err != nil || n != 30 {
			t.Errorf("%d tries, %v", n, err)
		}
		n = 0
		refused := errors.New("refused")
		if err := Retry(nil, func() (bool, error) { n++; return false, refused }); err != refused || n != 1 {
			t.Errorf("%d tries, %v", n, err)
		}
		began := time.Now()
		err = Retry(nil, func() (bool, error) { return true, io.EOF })
		if took := time.Since(began); err != io.EOF || took < retryTime || took > retryTime+longestPause {
			t.Errorf("%v after %v", err, took)
		}
		done := make(chan struct{})
		close(done)
		n = 0
		if err := Retry(done, func() (bool, error) { n++; return true, io.EOF }); err != io.EOF || n > 50 {
			t.Errorf("%d tries after the end, %v", n, err)
		}
	})
}
