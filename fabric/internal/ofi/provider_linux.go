package ofi

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// A Provider is a way to reach peers that libfabric offers: one of its providers over one domain.
type Provider struct {
	Name   string // such as "verbs;ofi_rxm"
	Domain string // such as "mlx5_0", or "eth0"
	Device string // the device's name as its driver knows it, or ""

	info *info
}

// String returns the provider's name and its domain.
func (p Provider) String() string { return p.Name + " on " + p.Domain }

// Providers returns what reaches peers by reliable endpoints with messages, the best first, of one provider, or of all
// if name is "". It returns ErrNone if there is nothing.
// Node is this process's IP address if the provider uses IP addresses, the name of its files if it is shm, or "".
func Providers(name, node string) ([]Provider, error) {
	lib, err := load()
	if err != nil {
		return nil, err
	}
	made, _, _ := purego.SyscallN(lib.dupinfo, 0)
	hints := pointer[info](made)
	if hints == nil {
		return nil, fmt.Errorf("fi_allocinfo: no memory")
	}
	hints.caps = capMsg | capRMA
	hints.mode = modeContext | modeContext2
	hints.ep.kind = epRDM
	hints.tx.msgOrder = orderSAS
	hints.rx.msgOrder = orderSAS
	hints.domain.mrMode = mrLocal | mrVirtAddr | mrAllocated | mrProvKey | mrEndpoint
	hints.domain.threading = threadDomain
	hints.domain.resources = resourcesOn
	a, err := NewArena(4096)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if name != "" {
		hints.fabric.provider = a.text(name)
	}
	var at uintptr
	var flags uint64
	if node != "" {
		at = address(a.text(node))
		flags = flagSource
	}
	found := place[*info](a)
	r, _, _ := purego.SyscallN(lib.getinfo, apiVersion, at, 0, uintptr(flags), address(hints), address(found))
	hints.fabric.provider = nil // it is not C's to free
	purego.SyscallN(lib.freeinfo, address(hints))
	const noData = -61
	if int32(r) == noData {
		return nil, ErrNone
	}
	if err := check("fi_getinfo", r); err != nil {
		return nil, err
	}
	var all []Provider
	for f := *found; f != nil; f = f.next {
		p := Provider{Name: text(f.fabric.provider), Domain: text(f.domain.name), info: f}
		if f.nic != nil && f.nic.device != nil {
			p.Device = text(f.nic.device.name)
		}
		all = append(all, p)
	}
	return all, nil // the list is kept: it is small, and asked for once or twice
}
