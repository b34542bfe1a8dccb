package stream

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"weft/internal/sys"
)

// listenFile listens at the file of a Unix socket, and replaces the file of a listener that was killed.
//
// The socket is made under another name in the same directory, and appears under its own when it already listens. So
// a socket at which nobody listens is a leftover. Of several processes that find the same leftover, the one with the
// lock removes it.
func listenFile(path string) (*net.UnixListener, fs.FileInfo, error) {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, nil, &net.OpError{Op: "listen", Net: "unix", Addr: unixAddr(path), Err: err}
	}
	defer dir.Close()
	draft := draftName(path)
	// By way of the directory's descriptor, since a draft's whole path may be too long for a socket.
	at := "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + filepath.Base(draft)
	l, err := net.ListenUnix("unix", unixAddr(at))
	if err != nil {
		return nil, nil, &net.OpError{Op: "listen", Net: "unix", Addr: unixAddr(path), Err: errors.Unwrap(err)}
	}
	l.SetUnlinkOnClose(false)
	defer os.Remove(draft)
	file, err := os.Lstat(draft)
	if err == nil {
		err = os.Link(draft, path)
	}
	if errors.Is(err, fs.ErrExist) {
		err = replaceLeftover(draft, path)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		err = os.NewSyscallError("bind", syscall.EADDRINUSE)
	case len(path) > longestPath: // nobody could connect to it
		err = os.NewSyscallError("bind", syscall.EINVAL)
		_ = os.Remove(path)
	}
	if err != nil {
		l.Close()
		return nil, nil, &net.OpError{Op: "listen", Net: "unix", Addr: unixAddr(path), Err: err}
	}
	return l, file, nil
}

// longestPath is how many bytes of a path fit into the address of a Unix socket.
const longestPath = 107

func unixAddr(path string) *net.UnixAddr { return &net.UnixAddr{Name: path, Net: "unix"} }

// draftName returns a new name beside a path.
func draftName(path string) string {
	var random [8]byte
	rand.Read(random[:])
	return filepath.Join(filepath.Dir(path), ".weft-"+hex.EncodeToString(random[:]))
}

// replaceLeftover is os.Link for a path at which a file lies. It removes the file if that is a socket at which nobody
// listens.
func replaceLeftover(draft, path string) error {
	defer lockPath(path)()
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() == fs.ModeSocket && refuses(path) {
		_ = os.Remove(path) // else Link fails
	}
	return os.Link(draft, path)
}

// lockPath takes the lock of a path: a file beside it that other users cannot open, and which is removed with the lock.
// Where it cannot be made, for example because a stranger has made it, there is no lock.
func lockPath(path string) (unlock func()) {
	name := filepath.Join(filepath.Dir(path), ".weft-"+filepath.Base(path)+".lock")
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return func() {}
		}
		info, err := f.Stat()
		if err == nil && isPrivate(info) {
			err = sys.Hold(f)
		}
		if err != nil || !isPrivate(info) {
			f.Close()
			return func() {}
		}
		if isFile(name, info) {
			return func() {
				_ = os.Remove(name)
				f.Close()
			}
		}
		f.Close() // its holder has removed it
	}
}

// isPrivate reports whether a file can be opened by this user alone.
func isPrivate(info fs.FileInfo) bool {
	owner, known := sys.Owner(info)
	return known && owner == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

// refuses reports whether no process listens at a socket.
func refuses(path string) bool {
	c, err := net.DialUnix("unix", nil, unixAddr(path))
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// isFile reports whether a certain file lies at a path. The number of a file that was removed may be given to
// another one, so the times must be the same as well.
func isFile(path string, file fs.FileInfo) bool {
	info, err := os.Lstat(path)
	return err == nil && os.SameFile(info, file) && info.ModTime().Equal(file.ModTime())
}
