package sys

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// MapFile maps n bytes of a file. The file may be shorter: memory beyond its end must
// not be touched before Extend has made the file longer.
func MapFile(f *os.File, n int) ([]byte, error) {
	b, err := mmap(int(f.Fd()), n, unix.PROT_READ|unix.PROT_WRITE)
	return b, os.NewSyscallError("mmap", err)
}

// Extend adds n bytes to a file at off, its end, and reserves the memory for them now, so that
// touching them can never fault.
func Extend(f *os.File, off, n int64) error {
	return os.NewSyscallError("fallocate", unix.Fallocate(int(f.Fd()), 0, off, n))
}

// Hold locks a file for as long as this process lives and has the file open. If another process
// is in Held or Seize at this moment, Hold waits for that.
func Hold(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}

// Seize is Hold if no other descriptor holds the file; otherwise it returns false at once.
func Seize(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }

// Held reports whether another process holds a file, or whether that cannot be known.
func Held(f *os.File) bool {
	fd := int(f.Fd())
	if err := unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return true
	}
	_ = unix.Flock(fd, unix.LOCK_UN) // closing the file does so, too
	return false
}

// Owner returns the user that owns a file.
func Owner(info os.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
