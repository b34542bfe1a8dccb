package ofi

import (
	"errors"
	"math"
	"os"
	"runtime"
	"strconv"
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

func openStack(t *testing.T) *stack {
	s := new(stack)
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

func arena(t *testing.T) *Arena {
	a, err := NewArena(4096)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// A call of C that may block is made by purego, which lets other goroutines run meanwhile, also on one processor.
func TestBlockingCallLetsOthersRun(t *testing.T) {
	a := arena(t)
	f := libc(t, "read")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	fd := r.Fd()
	at := address(&a.Take(8)[0])
	read := make(chan uintptr)
	go func() { // blocks: nothing has been written
		n, _, _ := purego.SyscallN(f, fd, at, 1)
		read <- n
	}()
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
	b.args = [8]uintptr{address(&out[0]), 256, address(a.text("%ld %ld %ld %ld %ld")), 1, 2, 3, 4, 5}
	if n := openStack(t).call(b); text(&out[0]) != "1 2 3 4 5" {
		t.Errorf("%d: %q", n, text(&out[0]))
	}
}

// One crossing carries out blocks in order, until one has failed, and repeats what returns -FI_EAGAIN as often as the
// block says.
func TestBlocks(t *testing.T) {
	a := arena(t)
	s := openStack(t)
	abs := libc(t, "labs")
	chain := func(values ...int64) (b []*block) {
		for _, v := range values {
			k := place[block](a)
			*k = block{f: abs, args: [8]uintptr{uintptr(v)}, result: 77}
			if len(b) > 0 {
				b[len(b)-1].next = k
			}
			b = append(b, k)
		}
		return b
	}
	all := chain(-5, 6, math.MinInt64, 7) // whose absolute value is below zero
	if n := s.call(all[0]); n != 5 || all[1].result != 6 || int64(all[2].result) >= 0 || all[3].result != 77 {
		t.Errorf("%d, %d, %d, %d", n, all[1].result, int64(all[2].result), all[3].result)
	}
	for number, left := range map[string]int{"-11": 1, "-12": 9, "3": 9} {
		k := place[block](a)
		*k = block{f: libc(t, "strtol"), args: [8]uintptr{address(a.text(number)), 0, 10}, looks: 9}
		if n := s.call(k); strconv.FormatInt(n, 10) != number || k.looks != left {
			t.Errorf("%s: %d, and %d looks are left", number, n, k.looks)
		}
	}
}

// A call allocates nothing.
func TestCallAllocates(t *testing.T) {
	b := place[block](arena(t))
	b.f = libc(t, "labs")
	b.args[0] = ^uintptr(4)
	s := openStack(t)
	if n := testing.AllocsPerRun(100, func() { s.call(b) }); n != 0 || b.result != 5 {
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
