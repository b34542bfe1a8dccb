package sys

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func addressOf(b *byte) uint64 { return uint64(uintptr(unsafe.Pointer(b))) }

// packetPair returns both ends of a Unix connection that keeps records apart.
func packetPair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*net.UnixConn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "")
		c, err := net.FileConn(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		ends[i] = c.(*net.UnixConn)
	}
	return ends[0], ends[1]
}

// A descriptor travels with its record, and a record without one is told apart.
func TestDescriptorsTravel(t *testing.T) {
	a, b := packetPair(t)
	fd, ours := memory(t, false)
	if err := SendFD(a, []byte("with"), fd); err != nil {
		t.Fatal(err)
	}
	if err := SendFD(a, []byte("without"), -1); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	n, got, err := RecvFD(b, buf)
	if err != nil || string(buf[:n]) != "with" || got < 0 {
		t.Fatalf("%q, descriptor %d, %v", buf[:n], got, err)
	}
	theirs := mapped(t, got, false)
	CloseFD(got)
	ours[3] = 4
	if theirs[3] != 4 {
		t.Error("it is another memory")
	}
	if n, got, err = RecvFD(b, buf); err != nil || string(buf[:n]) != "without" || got != -1 {
		t.Errorf("%q, descriptor %d, %v", buf[:n], got, err)
	}
	a.Close()
	if _, got, err = RecvFD(b, buf); !errors.Is(err, io.EOF) || got != -1 {
		t.Errorf("after the end: descriptor %d, %v", got, err)
	}
}

// Of several descriptors in one record the first is kept, and the others are closed.
func TestTooManyDescriptors(t *testing.T) {
	a, b := packetPair(t)
	fd, _ := memory(t, false)
	if _, _, err := a.WriteMsgUnix([]byte("three"), unix.UnixRights(fd, fd, fd), nil); err != nil {
		t.Fatal(err)
	}
	before := descriptors(t)
	_, got, err := RecvFD(b, make([]byte, 64))
	if err != nil || got < 0 {
		t.Fatalf("descriptor %d, %v", got, err)
	}
	if n := descriptors(t); n != before+1 {
		t.Errorf("%d descriptors were kept, not 1", n-before)
	}
	CloseFD(got)
}

// descriptors returns how many descriptors this process has.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// The kernel says which process and user is at the other end.
func TestCredentials(t *testing.T) {
	a, _ := packetPair(t)
	pid, uid, err := Credentials(a)
	if err != nil || pid != os.Getpid() || uid != os.Getuid() {
		t.Errorf("process %d of user %d, %v", pid, uid, err)
	}
}

// A namespace that lacks numbers calls many users by one, so that one is nobody.
func TestUnmappedUsers(t *testing.T) {
	for text, all := range map[string]bool{
		"         0          0 4294967295\n": true, "0 100000 65536\n": false, "": false, "0 1000 1\n": false, "x": false,
		"0 0 65536\n65536 65536 4294901759\n": true,
	} {
		if mapsAll(text) != all {
			t.Errorf("%q", text)
		}
	}
}

// Poke reports that there is nobody at the other end any more; a full socket is none of its
// business.
func TestPoke(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	for range 5000 {
		if Poke(uintptr(fds[0])) {
			t.Fatal("the other end is said to be gone")
		}
	}
	unix.Close(fds[1])
	if !Poke(uintptr(fds[0])) {
		t.Error("the end of the other side is not noticed")
	}
}
