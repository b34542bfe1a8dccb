package ofi

import "unsafe"

// The structures below are libfabric's, as its headers declare them. Their beginnings have been the same since version
// 1.5; what later versions have appended is not used.

// A fid begins every object of libfabric.
type fid struct {
	class, context uintptr
	ops            *fidOps
}

type fidOps struct {
	size, close, bind, control, opsOpen uintptr
}

// A table is the functions of one kind of an object; entry 0 is its size in bytes.
type table [16]uintptr

// An object is a fabric, an address vector or a completion queue.
type object struct {
	fid
	ops *table
}

type domain struct {
	fid
	ops *table
	mr  *table
}

type endpoint struct {
	fid
	ops, cm, msg, rma, tagged, atomic *table
}

type region struct {
	fid
	desc uintptr
	key  uint64
}

// Places of functions in their tables.
const (
	fabricDomain  = 1
	fabricTrywait = 5

	domainAV       = 1
	domainCQ       = 2
	domainEndpoint = 3

	regionReg = 1

	avInsert = 1
	avRemove = 4

	cqRead     = 1
	cqReaderr  = 3
	cqStrerror = 7

	cmGetname = 2

	msgRecv       = 1
	msgSend       = 4
	msgInject     = 7
	msgSendData   = 8
	msgInjectData = 9

	rmaRead  = 1
	rmaWrite = 4
)

type txAttr struct {
	caps, mode, opFlags, msgOrder, compOrder uint64
	injectSize, size, iovLimit, rmaIovLimit  uintptr
	tclass                                   uint32
}

type rxAttr struct {
	caps, mode, opFlags, msgOrder, compOrder uint64
	totalBuffered, size, iovLimit            uintptr
}

type epAttr struct {
	kind, protocol, version uint32
	maxMsg                  uintptr
}

type domainAttr struct {
	domain                                  uintptr
	name                                    *byte
	threading, control, data, resources, av uint32
	mrMode                                  int32
	mrKeySize, cqDataSize, cqCount, epCount uintptr
	txCount, rxCount                        uintptr
}

type fabricAttr struct {
	fabric              uintptr
	name, provider      *byte
	provVersion, apiVer uint32
}

// An info is libfabric's description of an endpoint that can be had.
type info struct {
	next              *info
	caps, mode        uint64
	format            uint32
	srcLen, destLen   uintptr
	src, dest, handle uintptr
	tx                *txAttr
	rx                *rxAttr
	ep                *epAttr
	domain            *domainAttr
	fabric            *fabricAttr
	nic               *nic
}

// A nic is the device of an info.
type nic struct {
	fid
	device, bus, link *deviceAttr // bus and link are of other types, and not looked at
}

type deviceAttr struct{ name *byte }

type cqAttr struct {
	size      uintptr
	flags     uint64
	format    uint32
	wait      uint32
	vector    int32
	condition uint32
	set       uintptr
}

type avAttr struct {
	kind, bits    uint32
	count, each   uintptr
	name, address uintptr
	flags         uint64
}

// An entry is a completion (FI_CQ_FORMAT_DATA).
type entry struct {
	context uintptr
	flags   uint64
	len     uintptr
	buf     uintptr
	data    uint64
}

type errorEntry struct {
	context uintptr
	flags   uint64
	len     uintptr
	buf     uintptr
	data    uint64
	tag     uint64
	olen    uintptr
	err     int32
	provErr int32
	errData uintptr
	errSize uintptr
}

// Values of libfabric's constants.
const (
	apiVersion = 1<<16 | 15

	capMsg = 1 << 1
	capRMA = 1 << 2

	flagRead        = 1 << 8
	flagWrite       = 1 << 9
	flagRecv        = 1 << 10
	flagSend        = 1 << 11
	flagRemoteRead  = 1 << 12
	flagRemoteWrite = 1 << 13
	flagSource      = 1 << 57 // of fi_getinfo: node is this process's address

	modeContext  = 1 << 59
	modeContext2 = 1 << 52

	mrLocal     = 1 << 2
	mrVirtAddr  = 1 << 4
	mrAllocated = 1 << 5
	mrProvKey   = 1 << 6
	mrEndpoint  = 1 << 9

	threadDomain = 3
	resourcesOn  = 2
	epRDM        = 3
	orderSAS     = 1 << 8
	avTable      = 2
	cqData       = 3
	waitNone     = 0
	waitFD       = 3
	getWait      = 5 // commands of control
	enable       = 6

	eagain = -11
	eavail = -259
)

// text returns a string of C's.
func text(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// address returns where a value lies, which must be memory of C or of an Arena: what lies on a stack moves.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
