package ofi

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ebitengine/purego"
)

// library is the functions that libfabric exports itself.
type library struct {
	getinfo, freeinfo, dupinfo, fabric, strerror, version uintptr
}

// settings are variables that libfabric and its providers read while they are loaded, in the environment of C alone. A
// value that the user has set stays, except where firm is set.
//
//   - PSM and PSM2 install handlers of SIGSEGV as they are loaded, so that a nil pointer in Go would end the process.
//   - Libfabric's cache of registrations looks for memory that is unmapped by hooks in libc, past which Go's own calls
//     go: it would send pages that are not there any more.
//   - Endpoints of ofi_rxm over soft RoCE have room for small queues of few peers only.
var settings = []struct {
	name, value string
	firm        bool
}{
	{"HFI_NO_BACKTRACE", "1", true},
	{"IPATH_NO_BACKTRACE", "1", true},
	{"FI_MR_CACHE_MONITOR", "disabled", true},
	{"FI_OFI_RXM_MSG_RX_SIZE", "128", false},
	{"FI_OFI_RXM_MSG_TX_SIZE", "128", false},
	{"FI_UNIVERSE_SIZE", "64", false}, // or the ranks of the job, if they are more
}

// ErrMissing reports a host without libfabric.
var ErrMissing = errors.New("libfabric.so.1 is not installed (Debian: libfabric1)")

// ErrNone reports that a provider is not there, or has no device.
var ErrNone = errors.New("nothing found")

// universe is the ranks of the first job that asks for libfabric.
var universe atomic.Int64

// load loads libfabric, once.
var load = sync.OnceValues(func() (*library, error) {
	if ranks := int(universe.Load()); ranks > 64 {
		settings[len(settings)-1].value = strconv.Itoa(ranks)
	}
	if err := prepare(); err != nil {
		return nil, err
	}
	handle, err := purego.Dlopen("libfabric.so.1", purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMissing, err)
	}
	lib := new(library)
	for name, f := range map[string]*uintptr{
		"fi_getinfo": &lib.getinfo, "fi_freeinfo": &lib.freeinfo, "fi_dupinfo": &lib.dupinfo, "fi_fabric": &lib.fabric,
		"fi_strerror": &lib.strerror, "fi_version": &lib.version,
	} {
		if *f, err = purego.Dlsym(handle, name); err != nil {
			return nil, fmt.Errorf("libfabric.so.1: %w", err)
		}
	}
	return lib, nil
})

// prepare makes the settings.
func prepare() error {
	setenv, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return err
	}
	a, err := NewArena(4096)
	if err != nil {
		return err
	}
	defer a.Close() // setenv copies
	for _, s := range settings {
		overwrite := uintptr(0)
		if s.firm {
			overwrite = 1
		}
		purego.SyscallN(setenv, address(a.text(s.name)), address(a.text(s.value)), overwrite)
	}
	return nil
}

// Load loads libfabric for a job of so many ranks, of which the first call's count. It returns its version, such as
// "1.17", or why it cannot be used.
func Load(ranks int) (version string, err error) {
	universe.CompareAndSwap(0, int64(ranks))
	lib, err := load()
	if err != nil {
		return "", err
	}
	v, _, _ := purego.SyscallN(lib.version)
	return fmt.Sprintf("%d.%d", v>>16, v&0xffff), nil
}

// An Error is what libfabric says of a call that has failed.
type Error struct {
	Call string // such as "fi_enable"
	Code int    // an errno, or one of libfabric's own
	Text string // libfabric's or the provider's words
}

// Error returns the call, the words and the number.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%d)", e.Call, e.Text, e.Code) }

// check returns an *Error unless a call has returned 0.
func check(call string, result uintptr) error {
	code := int(int32(result))
	if code == 0 {
		return nil
	}
	return failed(call, -code)
}

// failed returns the *Error of a positive code.
func failed(call string, code int) error {
	lib, err := load()
	if err != nil {
		return err
	}
	said, _, _ := purego.SyscallN(lib.strerror, uintptr(code))
	return &Error{Call: call, Code: code, Text: text(pointer[byte](said))}
}
