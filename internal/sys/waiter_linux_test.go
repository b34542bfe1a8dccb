package sys

import (
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// A futex lets a goroutine sleep only while the word has the expected value and for a limited time, and
// a wake-up ends the sleep.
func TestFutex(t *testing.T) {
	var word atomic.Uint32
	at := (*uint32)(pointerOf(&word))
	FutexWait(at, 1, -1) // the word is 0: it does not sleep
	FutexWait(at, 0, 0)  // for no time
	FutexWait(at, 0, time.Microsecond)
	asleep := make(chan struct{})
	done := make(chan struct{})
	go func() {
		close(asleep)
		for word.Load() == 0 {
			FutexWait(at, 0, -1)
		}
		close(done)
	}()
	<-asleep
	FutexWake(at) // in vain: nothing may follow from it
	word.Store(1)
	FutexWake(at)
	<-done
}

// pipeFDs returns both ends of a pipe.
func pipeFDs(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return r, w
}

// A watch tells once that a descriptor is readable, also if it was readable before.
func TestWaiter(t *testing.T) {
	w, err := NewWaiter()
	if err != nil {
		t.Fatal(err)
	}
	r, in := pipeFDs(t)
	if _, err := in.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if w.Wait(0) {
		t.Error("woken by what is not watched")
	}
	fd := int(r.Fd())
	w.Watch(fd)
	if !w.Wait(-1) {
		t.Error("not woken by what was readable before the watch")
	}
	if w.Wait(0) {
		t.Error("woken twice by one watch")
	}
	w.Watch(fd)
	w.Forget(fd)
	if w.Wait(0) {
		t.Error("woken by a watch that has ended")
	}
	w.Wake()
	w.Wake()
	if !w.Wait(-1) || w.Wait(0) {
		t.Error("a wake-up before Wait must end the next one, and only that")
	}
	w.Close()
	w.Watch(fd) // after Close nothing happens
	w.Wake()
	w.Close()
}

// An Interrupt fires once for each Arm, however often something arrives.
func TestInterrupt(t *testing.T) {
	r, in := pipeFDs(t)
	fired := make(chan struct{}, 10)
	x, err := NewInterrupt(func() { fired <- struct{}{} }, int(r.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if n := len(fired); n > 0 {
			t.Errorf("it has fired %d times unarmed", n)
		}
		x.Arm()
		<-fired
	}
	x.Close()
	if n := len(fired); n > 0 {
		t.Errorf("it has fired %d times too often", n)
	}
}
