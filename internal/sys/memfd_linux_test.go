package sys

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

const testSize = 4 * 4096

// memory returns new memory and its descriptor, which end with the test.
func memory(t *testing.T, readOnly bool) (fd int, mem []byte) {
	t.Helper()
	fd, mem, err := NewMemory("test", testSize, readOnly)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		CloseFD(fd)
		if err := Unmap(mem); err != nil {
			t.Error(err)
		}
	})
	return fd, mem
}

// mapped maps memory once more, as a peer does.
func mapped(t *testing.T, fd int, readOnly bool) []byte {
	t.Helper()
	mem, err := MapMemory(DupFD(fd), readOnly)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Unmap(mem); err != nil {
			t.Error(err)
		}
	})
	return mem
}

// Two mappings show the same memory, whose size nobody can change.
func TestMemoryIsShared(t *testing.T) {
	fd, ours := memory(t, false)
	theirs := mapped(t, fd, false)
	if len(theirs) != testSize {
		t.Fatalf("%d bytes", len(theirs))
	}
	ours[1] = 1
	theirs[testSize-1] = 2
	if theirs[1] != 1 || ours[testSize-1] != 2 {
		t.Error("a byte that one side wrote is not seen by the other")
	}
	if err := unix.Ftruncate(fd, 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("its size can be changed: %v", err)
	}
	if Resident(fd) == 0 {
		t.Error("no byte is in use")
	}
}

// Memory for reading only cannot be mapped for writing, by no descriptor.
func TestReadOnlyMemory(t *testing.T) {
	fd, ours := memory(t, true)
	for _, d := range []int{DupFD(fd), ReadOnlyFD(fd)} {
		if _, err := MapMemory(d, false); err == nil {
			t.Error("it can be mapped for writing")
		}
	}
	theirs := mapped(t, fd, true)
	ours[5] = 7
	if theirs[5] != 7 {
		t.Error("what the owner writes is not seen")
	}
}

// What a peer could take away while it is used is refused, and its descriptor closed.
func TestUnsealedMemoryIsRefused(t *testing.T) {
	unsealed, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, fd := range []int{unsealed, DupFD(int(file.Fd()))} {
		if _, err := MapMemory(fd, false); !errors.Is(err, ErrUnsealed) {
			t.Errorf("descriptor %d: %v", fd, err)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); !errors.Is(err, unix.EBADF) {
			t.Errorf("descriptor %d is still open", fd)
		}
	}
}

// A mapping that was vacated holds zeroes, and what is written there is seen by nobody.
func TestVacate(t *testing.T) {
	fd, ours := memory(t, false)
	theirs := mapped(t, fd, false)
	ours[0] = 1
	if err := Vacate(theirs); err != nil {
		t.Fatal(err)
	}
	if theirs[0] != 0 {
		t.Error("the shared memory is still there")
	}
	theirs[0] = 9
	if ours[0] != 1 {
		t.Error("the owner sees what was written to a vacated mapping")
	}
}

// Discard gives the memory back: all that map it see zeroes.
func TestDiscard(t *testing.T) {
	fd, ours := memory(t, false)
	theirs := mapped(t, fd, false)
	for i := range ours {
		ours[i] = 1
	}
	Discard(ours)
	if n := Resident(fd); n != 0 || theirs[0] != 0 || ours[testSize-1] != 0 {
		t.Errorf("%d bytes are in use after Discard; the first is %d", n, theirs[0])
	}
}

// Memory is copied from a process's ordinary memory; an address at which there is nothing is
// an error, and no panic.
func TestReadProcess(t *testing.T) {
	fd, ours := memory(t, false)
	_ = fd
	copy(ours[100:], "bytes")
	got := make([]byte, 5)
	err := ReadProcess(os.Getpid(), addressOf(&ours[100]), got)
	if errors.Is(err, ErrForbidden) {
		t.Skip(err)
	}
	if err != nil || string(got) != "bytes" {
		t.Errorf("%q, %v", got, err)
	}
	if err := ReadProcess(os.Getpid(), 4096, got); err == nil {
		t.Error("address 4096 can be read")
	}
}
