package stream

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestListenSparesFiles: Listen removes nothing but a socket at which nobody listens.
func TestListenSparesFiles(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a file":      func(path string) error { return os.WriteFile(path, []byte("precious"), 0o600) },
		"a FIFO":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":      func(path string) error { return os.Symlink("elsewhere", path) },
		"a link to a leftover": func(path string) error {
			l, err := net.ListenUnix("unix", unixAddr(path+".target"))
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			l.Close()
			return os.Symlink(path+".target", path)
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "s")
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		before, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Listen(t.Context(), path)
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("%s: %v, %v", name, l, err)
		}
		if !isFile(path, before) {
			t.Errorf("%s has gone", name)
		}
		nothingIsLeft(t, dir)
	}
}

// nothingIsLeft makes sure that no draft and no lock lies in a directory.
func nothingIsLeft(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".weft-") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// TestCloseSparesSuccessor: Close does not remove the socket of a listener that has taken the path over, nor one that
// SetUnlinkOnClose spares.
func TestCloseSparesSuccessor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	listen := func() *Listener {
		t.Helper()
		l, err := new(Config).listenPath(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := listen()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second := listen()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatalf("the successor has lost its path: %v", err)
	}
	c.Close()
	second.SetUnlinkOnClose(false)
	second.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the file was to stay: %v", err)
	}
	listen().Close()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
	nothingIsLeft(t, dir)
}

// TestLockedDirectory: a lock that a stranger holds on the directory, or the name of the lock's file, keeps no listener
// from replacing a leftover.
func TestLockedDirectory(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", unixAddr(path))
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".weft-s.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	again, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// TestLockOfAnother: a file that others can open, and perhaps hold for ever, is no lock, also for root.
func TestLockOfAnother(t *testing.T) {
	const nobody = 65534
	for name, give := range map[string]func(lock string) error{
		"all may open it": func(lock string) error { return os.Chmod(lock, 0o666) },
		"of another user": func(lock string) error { return os.Chown(lock, nobody, nobody) },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "s")
		lock := filepath.Join(dir, ".weft-s.lock")
		l, err := net.ListenUnix("unix", unixAddr(path))
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		l.Close()
		f, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		if err := give(lock); err != nil {
			t.Logf("%s: %v", name, err) // only root may
			continue
		}
		again, err := Listen(t.Context(), path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again.Close()
		if _, err := os.Stat(lock); err != nil {
			t.Errorf("%s: it has been removed: %v", name, err)
		}
	}
}

// TestLongPath: a path that fits into no address is refused at once, and one that just fits is not.
func TestLongPath(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{longestPath, longestPath + 1} {
		path := filepath.Join(dir, strings.Repeat("s", n-len(dir)-1))
		l, err := Listen(t.Context(), path)
		if (err == nil) != (n <= longestPath) {
			t.Errorf("a path of %d bytes: %v", n, err)
		}
		if err == nil {
			c, err := Dial(t.Context(), path)
			if err != nil {
				t.Errorf("a path of %d bytes: %v", n, err)
			} else {
				c.Close()
			}
			l.Close()
		} else if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}
