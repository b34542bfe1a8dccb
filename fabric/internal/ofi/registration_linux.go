package ofi

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/ebitengine/purego"
)

// A Registration is memory that libfabric may read and write until it is closed.
type Registration struct {
	Key uint64 // by which peers reach the memory
	At  uint64 // what peers add to an offset in it

	mr *region
}

// Access says what registered memory is for.
type Access uint64

// Local memory holds messages, and what is read and written by this process's own operations. Remote memory can be read
// and written by peers; Readable can only be read.
const (
	Local    Access = flagSend | flagRecv | flagRead | flagWrite
	Remote   Access = Local | flagRemoteRead | flagRemoteWrite
	Readable Access = Local | flagRemoteRead
)

// Register registers memory, which must stay mapped where it is.
func (e *Endpoint) Register(b []byte, access Access) (*Registration, error) {
	made := &e.word[0]
	r, _, _ := purego.SyscallN(e.domain.mr[regionReg], address(e.domain), address(&b[0]), uintptr(len(b)),
		uintptr(access), 0, uintptr(e.freshKey()), 0, address(made), 0)
	if err := check("fi_mr_reg", r); err != nil {
		return nil, err
	}
	x := &Registration{mr: pointer[region](uintptr(*made))}
	if e.Provider.info.domain.mrMode&mrEndpoint != 0 {
		if err := e.enableRegion(x); err != nil {
			x.Close()
			return nil, err
		}
	}
	x.Key = x.mr.key
	if e.Provider.info.domain.mrMode&(mrVirtAddr|1) != 0 { // 1: FI_MR_BASIC, of old providers
		x.At = uint64(address(&b[0]))
	}
	return x, nil
}

// freshKey returns a key for providers that let the caller choose it: none that a stranger guesses, as far as the
// provider's keys are long enough.
func (e *Endpoint) freshKey() uint64 {
	var b [8]byte
	rand.Read(b[:])
	key := binary.LittleEndian.Uint64(b[:])
	if size := e.Provider.info.domain.mrKeySize; size > 0 && size < 8 {
		key &= 1<<(8*size) - 1
	}
	return key
}

// enableRegion binds a registration to the endpoint, which some providers ask for.
func (e *Endpoint) enableRegion(x *Registration) error {
	ops := x.mr.fid.ops
	r, _, _ := purego.SyscallN(ops.bind, address(x.mr), address(e.ep), 0)
	if err := check("fi_mr_bind", r); err != nil {
		return err
	}
	r, _, _ = purego.SyscallN(ops.control, address(x.mr), enable, 0)
	return check("fi_mr_enable", r)
}

// Close ends the registration.
func (x *Registration) Close() { shut(&x.mr.fid) }

// desc returns how local operations name the registration.
func (x *Registration) desc() uintptr {
	if x == nil {
		return 0
	}
	return x.mr.desc
}
