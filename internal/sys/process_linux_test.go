package sys

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"weft/internal/waittest"
)

func pointerOf[T any](p *T) unsafe.Pointer { return unsafe.Pointer(p) }

// What the kernel tells of a child follows its life: it runs, is stopped, goes on and ends.
func TestChildStates(t *testing.T) {
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	pid := child.Process.Pid
	waittest.Until(t, "it runs", func() bool { return !Stopped(pid) })
	if state, _, ok := ProcessState(pid); !Alive(pid) || Exiting(pid) || StoppedOrGone(pid) || !ok || state == 'T' {
		t.Errorf("it does not run: state %c", state)
	}
	for range 2 {
		_ = child.Process.Signal(syscall.SIGSTOP)
		waittest.Until(t, "it is stopped", func() bool { return Stopped(pid) && StoppedOrGone(pid) })
		if !Alive(pid) || Exiting(pid) {
			t.Error("a stopped process counts as gone")
		}
		_ = child.Process.Signal(syscall.SIGCONT)
		waittest.Until(t, "it goes on", func() bool { return !Stopped(pid) })
	}
	_ = child.Process.Kill()
	if err := AwaitExit(pid); err != nil {
		t.Fatal(err)
	}
	if !Exiting(pid) || !Alive(pid) {
		t.Error("a process that has ended is to be seen until its parent has waited for it")
	}
	_ = child.Wait()
	if Alive(pid) || !Exiting(pid) || !Stopped(pid) {
		t.Error("a process that is gone counts as alive")
	}
	if _, _, ok := ProcessState(pid); ok {
		t.Error("a process that is gone has a state")
	}
}

// OnCPUs runs on the processors that it is given; afterwards all can be used again.
func TestOnCPUs(t *testing.T) {
	all := Affinity()
	var cores []int
	for _, c := range Cores() {
		cores = append(cores, c...)
	}
	slices.Sort(cores)
	if len(all) == 0 || !slices.Equal(cores, all) {
		t.Fatalf("processors %v, in cores %v", all, cores)
	}
	last := all[len(all)-1:]
	err := OnCPUs(last, func() error {
		if got := Affinity(); !slices.Equal(got, last) {
			t.Errorf("on processors %v, not %v", got, last)
		}
		return os.ErrExist
	})
	if err != os.ErrExist {
		t.Errorf("the function's error is %v", err)
	}
	if got := Affinity(); !slices.Equal(got, all) {
		t.Errorf("afterwards on processors %v, not %v", got, all)
	}
	if err := OnCPUs([]int{1000}, func() error { return nil }); err == nil {
		t.Error("there is no processor 1000")
	}
}

// The loopback interface has its address, and one that is not there is an error.
func TestAddresses(t *testing.T) {
	lo, err := Addresses("lo")
	if err != nil || !slices.Contains(lo, netip.MustParsePrefix("127.0.0.1/8")) {
		t.Errorf("lo has %v, %v", lo, err)
	}
	if _, err := Addresses("weft-none"); err == nil {
		t.Error("an interface that is not there has addresses")
	}
}

// Of the processes that have opened a file, one holds it; the others see that it is held.
func TestHold(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	holder := open()
	other := open()
	defer other.Close()
	if Held(other) {
		t.Error("it is held before anyone does")
	}
	if err := Hold(holder); err != nil {
		t.Fatal(err)
	}
	if !Held(other) || Seize(other) {
		t.Error("it is not held")
	}
	holder.Close()
	if Held(other) || !Seize(other) {
		t.Error("it is held by nobody")
	}
}
