package ofi

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/ebitengine/purego"
)

// libc returns the address of a function of C's library.
func libc(t *testing.T, name string) uintptr {
	t.Helper()
	if _, err := load(); errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	f, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func arena(t *testing.T) *Arena {
	a, err := NewArena(4096)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// A call of C that blocks lets other goroutines run, also on one processor.
func TestBlockingCallLetsOthersRun(t *testing.T) {
	a := arena(t)
	b := place[block](a)
	b.f = libc(t, "read")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	b.args = [14]uintptr{r.Fd(), address(&a.Take(8)[0]), 1}
	read := make(chan int64)
	go func() { read <- b.call() }() // blocks: nothing has been written
	for range 3 {
		runtime.Gosched()
	}
	w.Write([]byte{1})
	if n := <-read; n != 1 {
		t.Errorf("read returned %d", n)
	}
}

// All arguments of a call arrive, in order.
func TestArguments(t *testing.T) {
	a := arena(t)
	b := place[block](a)
	b.f = libc(t, "snprintf")
	out := a.Take(256)
	b.args = [14]uintptr{address(&out[0]), 256, address(a.text("%ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld")),
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	if n := b.callLong(); text(&out[0]) != "1 2 3 4 5 6 7 8 9 10 11" {
		t.Errorf("%d: %q", n, text(&out[0]))
	}
	b.args[2] = address(a.text("%ld %ld %ld %ld %ld"))
	if n := b.call(); text(&out[0]) != "1 2 3 4 5" {
		t.Errorf("%d: %q", n, text(&out[0]))
	}
}

// A call allocates nothing.
func TestCallAllocates(t *testing.T) {
	b := place[block](arena(t))
	b.f = libc(t, "labs")
	b.args[0] = ^uintptr(4)
	if n := testing.AllocsPerRun(100, func() { b.call() }); n != 0 || b.result != 5 {
		t.Errorf("%v allocations, result %d", n, b.result)
	}
}

// What libfabric reads from the environment is set, whatever the program's own says.
func TestSettings(t *testing.T) {
	getenv := libc(t, "getenv")
	a := arena(t)
	for _, s := range settings {
		at, _, _ := purego.SyscallN(getenv, address(a.text(s.name)))
		if have := text(pointer[byte](at)); have != s.value && (s.firm || have == "") {
			t.Errorf("%s is %q for C, not %q", s.name, have, s.value)
		}
	}
}
