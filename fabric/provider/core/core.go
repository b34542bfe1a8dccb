// Command core is the part of the provider that is written in Go, as a shared library: build it with
// -buildmode=c-shared. The C part loads it when a program opens the fabric, and calls the functions here. Each turns
// what C has into what package endpoint takes, and back; see shim/weft.h.
package main

// #include "../shim/weft.h"
import "C"

import (
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/fabric/provider/internal/endpoint"
	"weft/fabric/provider/internal/stack"
)

// maxOpen is how many endpoints a process may have open, one after the other.
const maxOpen = 1 << 12

// maxAddress is the end of a process's memory.
const maxAddress = 1 << 47

// endpoints are those that are open, by their handles. Handles are never used again.
var (
	opening   sync.Mutex
	endpoints [maxOpen]atomic.Pointer[endpoint.Endpoint]
	handles   int
	memories  = map[C.uintptr_t]*endpoint.Memory{} // of domains
)

// memory returns what is registered in a domain. The lock is held.
func memory(domain C.uintptr_t) *endpoint.Memory {
	m := memories[domain]
	if m == nil {
		m = new(endpoint.Memory)
		memories[domain] = m
	}
	return m
}

// of returns the endpoint of a handle, and makes room for a handler of signals.
func of(handle C.int) *endpoint.Endpoint {
	stack.Room()
	return endpoints[handle].Load()
}

// ring returns the ring that lies in memory of C.
func ring(r *C.struct_weft_ring) *endpoint.Ring {
	if r == nil {
		return nil
	}
	entries := (*endpoint.Entry)(unsafe.Pointer(uintptr(unsafe.Pointer(r)) + C.sizeof_struct_weft_ring))
	return &endpoint.Ring{
		Head: (*uint64)(unsafe.Pointer(&r.head)), Tail: (*uint64)(unsafe.Pointer(&r.tail)),
		Entries: unsafe.Slice(entries, r.size),
	}
}

// counter returns the counter that lies in memory of C, or nil.
func counter(c *C.struct_weft_counter) *endpoint.Counter {
	return (*endpoint.Counter)(unsafe.Pointer(c))
}

// say copies an error to C.
func say(err error, text *C.char, size C.size_t) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(text)), size)
	b[copy(b[:size-1], err.Error())] = 0
}

// weft_open opens an endpoint and returns its handle, or -1. The text is then why, or a warning.
//
//export weft_open
func weft_open(domain C.uintptr_t, to *C.struct_weft_report, name unsafe.Pointer, text *C.char, size C.size_t) C.int {
	stack.Room()
	opening.Lock()
	defer opening.Unlock()
	if handles == maxOpen {
		return -1
	}
	report := endpoint.Report{Sent: ring(to.sent), Counters: endpoint.Counters{
		Sends: counter(to.sends), Receives: counter(to.receives), Reads: counter(to.reads), Writes: counter(to.writes),
		RemoteReads: counter(to.remote_reads), RemoteWrites: counter(to.remote_writes),
	}}
	if report.Received = report.Sent; to.received != to.sent {
		report.Received = ring(to.received)
	}
	e, warning, err := endpoint.Open(report, memory(domain), os.Getenv)
	if err != nil {
		say(err, text, size)
		return -1
	}
	if warning != nil {
		say(warning, text, size)
	}
	*(*[endpoint.NameSize]byte)(name) = e.Name()
	handle := handles
	handles++
	endpoints[handle].Store(e)
	return C.int(handle)
}

// weft_close closes an endpoint.
//
//export weft_close
func weft_close(handle C.int) {
	stack.Room()
	if e := endpoints[handle].Swap(nil); e != nil {
		e.Close()
	}
}

// weft_insert makes an endpoint known by its name, or says why not.
//
//export weft_insert
func weft_insert(handle C.int, addr C.uint64_t, name unsafe.Pointer, text *C.char, size C.size_t) C.int {
	err := of(handle).Insert(uint64(addr), unsafe.Slice((*byte)(name), endpoint.NameSize))
	if err != nil {
		say(err, text, size)
		return -C.int(endpoint.ErrInvalid)
	}
	return 0
}

// weft_progress runs the protocol.
//
//export weft_progress
func weft_progress(handle C.int) { of(handle).Progress() }

// weft_send sends a message.
//
//export weft_send
func weft_send(handle C.int, how C.uint32_t, to, tag, data C.uint64_t, buf unsafe.Pointer, n C.size_t,
	context C.uintptr_t) C.int {
	s := endpoint.Send{
		Kind: endpoint.Kind(how & C.WEFT_TAGGED), Completes: how&C.WEFT_COMPLETES != 0, HasData: how&C.WEFT_DATA != 0,
		Delivered: how&C.WEFT_DELIVERED != 0, To: uint64(to), Tag: uint64(tag), Data: uint64(data),
		Body: unsafe.Slice((*byte)(buf), n), Context: uintptr(context),
	}
	return -C.int(of(handle).Send(&s))
}

// weft_receive posts a receive, or probes.
//
//export weft_receive
func weft_receive(handle C.int, how C.uint32_t, from, tag, ignore C.uint64_t, buf unsafe.Pointer, n, least C.size_t,
	context C.uintptr_t) C.int {
	r := endpoint.Receive{
		Kind: endpoint.Kind(how & C.WEFT_TAGGED), Completes: how&C.WEFT_COMPLETES != 0, Several: how&C.WEFT_SEVERAL != 0,
		Least: int(least), From: uint64(from), Tag: uint64(tag), Ignore: uint64(ignore),
		Buf: unsafe.Slice((*byte)(buf), n), Base: uintptr(buf), Context: uintptr(context),
	}
	e := of(handle)
	discard := how&C.WEFT_DISCARD != 0
	switch {
	case how&C.WEFT_PEEK == 0 && how&C.WEFT_CLAIM == 0:
		return -C.int(e.Post(&r))
	case how&C.WEFT_PEEK == 0:
		return -C.int(e.Claimed(&r, discard))
	case discard:
		return -C.int(e.Probe(&r, endpoint.Discard))
	case how&C.WEFT_CLAIM != 0:
		return -C.int(e.Probe(&r, endpoint.Claim))
	default:
		return -C.int(e.Probe(&r, endpoint.Peek))
	}
}

// weft_cancel ends the receive of a context.
//
//export weft_cancel
func weft_cancel(handle C.int, context C.uintptr_t) { of(handle).Cancel(uintptr(context)) }

// weft_access begins an access to memory of another endpoint.
//
//export weft_access
func weft_access(handle C.int, x *C.struct_weft_access) C.int {
	return -C.int(of(handle).Access(&endpoint.Access{
		Verb: endpoint.Verb(x.verb), Op: uint8(x.op), Type: uint8(x._type), Completes: x.how&C.WEFT_COMPLETES != 0,
		HasData: x.how&C.WEFT_DATA != 0, To: uint64(x.to), Key: uint64(x.key), At: uint64(x.at), Data: uint64(x.data),
		Out: unsafe.Slice((*byte)(x.out), x.out_size), With: unsafe.Slice((*byte)(x.with), x.with_size),
		In: unsafe.Slice((*byte)(x.in), x.in_size), Context: uintptr(x.context),
	}))
}

// weft_register offers memory to others.
//
//export weft_register
func weft_register(domain C.uintptr_t, key C.uint64_t, base unsafe.Pointer, size, access C.uint64_t) C.int {
	stack.Room()
	opening.Lock()
	defer opening.Unlock()
	if size > maxAddress || base == nil && size > 0 {
		return -C.int(endpoint.ErrInvalid) // all memory, whatever lies there
	}
	bytes := unsafe.Slice((*byte)(base), size)
	return -C.int(memory(domain).Register(uint64(key), bytes, uint64(access)))
}

// weft_count counts what others write to registered memory.
//
//export weft_count
func weft_count(domain C.uintptr_t, key C.uint64_t, writes *C.struct_weft_counter) C.int {
	stack.Room()
	opening.Lock()
	defer opening.Unlock()
	return -C.int(memory(domain).Count(uint64(key), counter(writes)))
}

// weft_deregister takes it back.
//
//export weft_deregister
func weft_deregister(domain C.uintptr_t, key C.uint64_t) {
	stack.Room()
	opening.Lock()
	defer opening.Unlock()
	memory(domain).Drop(uint64(key))
}

func main() {}
