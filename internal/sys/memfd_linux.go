package sys

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seals keep the owner of memory from changing its size: a peer that maps it could otherwise be killed by SIGBUS.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// futureWrite forbids every mapping for writing but those that exist already. A
// descriptor opened for reading would not do: a process of the same user can open it again for
// writing.
const futureWrite = unix.F_SEAL_FUTURE_WRITE // Linux 5.1

// NewMemory makes n bytes of zeroed memory, a multiple of the page size, that
// other processes can map by the descriptor; if it is readOnly they cannot write
// to it. Its size is sealed, so that touching it can never fault. It exists as
// long as a process has it mapped or open.
func NewMemory(name string, n int, readOnly bool) (fd int, mem []byte, err error) {
	fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, nil, os.NewSyscallError("memfd_create", err)
	}
	if err = unix.Ftruncate(fd, int64(n)); err == nil {
		mem, err = mmap(fd, n, unix.PROT_READ|unix.PROT_WRITE)
	}
	if err == nil {
		sealing := seals
		if readOnly {
			sealing |= futureWrite
		}
		if _, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, sealing); err != nil {
			_ = Unmap(mem)
		}
	}
	if err != nil {
		unix.Close(fd)
		return -1, nil, fmt.Errorf("weft: shared memory of %d bytes: %w", n, err)
	}
	return fd, mem, nil
}

func mmap(fd, n, prot int) ([]byte, error) { return unix.Mmap(fd, 0, n, prot, unix.MAP_SHARED) }

// ErrUnsealed reports a descriptor from a peer that is not sealed memory: the peer could take
// the memory away while this process uses it.
var ErrUnsealed = errors.New("weft: the peer's memory is not sealed")

// MapMemory maps all of what NewMemory made in another process, and closes the
// descriptor. Without readOnly it fails if the memory cannot be written to.
func MapMemory(fd int, readOnly bool) ([]byte, error) {
	defer unix.Close(fd)
	have, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || have&seals != seals {
		return nil, ErrUnsealed
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, os.NewSyscallError("fstat", err)
	}
	if st.Size <= 0 || st.Size > 1<<42 {
		return nil, fmt.Errorf("weft: the peer's memory has %d bytes", st.Size)
	}
	if readOnly {
		return mmap(fd, int(st.Size), unix.PROT_READ)
	}
	return mmap(fd, int(st.Size), unix.PROT_READ|unix.PROT_WRITE)
}

// A MemoryID tells memory from all other memory that is mapped or open now.
type MemoryID struct{ device, inode uint64 }

// IdentifyMemory returns which memory a descriptor is.
func IdentifyMemory(fd int) (MemoryID, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return MemoryID{}, os.NewSyscallError("fstat", err)
	}
	return MemoryID{st.Dev, st.Ino}, nil
}

// Unmap ends a mapping.
func Unmap(mem []byte) error { return unix.Munmap(mem) }

// Discard gives shared memory back to the system, in every process that maps it: it holds
// zeroes then. Where that cannot be, it stays as it is.
func Discard(mem []byte) { _ = unix.Madvise(mem, unix.MADV_REMOVE) }

// Vacate ends a mapping, and puts empty memory of this process alone in its place. A
// goroutine that comes late reads zeroes there, and no other process sees what it writes; after
// Unmap it would crash. The shared memory is given back; the addresses are not.
func Vacate(mem []byte) error {
	if len(mem) == 0 {
		return nil
	}
	_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(&mem[0]), uintptr(len(mem)), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_FIXED|unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	return err
}

// DupFD returns another descriptor of the same, or -1.
func DupFD(fd int) int {
	d, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return d
}

// ReadOnlyFD returns another descriptor of the same that can only be read from, or -1.
func ReadOnlyFD(fd int) int {
	d, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return d
}

// MaxFDs returns how many descriptors this process can have.
func MaxFDs() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<30))
}

// CloseFD closes a descriptor.
func CloseFD(fd int) { unix.Close(fd) }

// Resident returns how many bytes of a descriptor's memory are in use.
func Resident(fd int) uint64 {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0
	}
	return uint64(st.Blocks) * 512
}

// ReadProcess copies len(dst) bytes from an address in another process. It returns
// ErrForbidden if the kernel does not allow it, and ErrNoProcess if the process has ended. The Go
// scheduler is not told of the system call: to tell it would cost more than it brings.
func ReadProcess(pid int, addr uint64, dst []byte) error {
	for len(dst) > 0 {
		local := unix.Iovec{Base: &dst[0]}
		local.SetLen(len(dst))
		remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(dst)}
		n, _, errno := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(pid),
			uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
		switch {
		case errno == unix.EPERM || errno == unix.ENOSYS:
			return ErrForbidden
		case errno == unix.ESRCH:
			return ErrNoProcess
		case errno != 0:
			return os.NewSyscallError("process_vm_readv", errno)
		case n == 0:
			return os.NewSyscallError("process_vm_readv", unix.EFAULT)
		}
		dst = dst[n:]
		addr += uint64(n)
	}
	return nil
}
