package fabric

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"weft/fabric/internal/ofi"
	"weft/internal/join"
)

// devices are the providers that drive a device for remote memory access, the preferred first.
var devices = []string{"verbs;ofi_rxm", "efa", "cxi", "psm3", "opx"}

// others are the providers that work without one.
var others = []string{"tcp;ofi_rxm", "tcp", "net", "udp;ofi_rxd", "shm"}

// byIP are the core providers whose endpoints have IP addresses.
var byIP = []string{"verbs", "tcp", "net", "udp", "sockets"}

// choose opens an endpoint of the first provider that works.
func choose(cfg join.FabricConfig, host string) (*ofi.Endpoint, error) {
	if _, err := ofi.Load(cfg.Size); err != nil {
		return nil, err
	}
	names := []string{cfg.Provider}
	switch {
	case cfg.Provider != "":
	case cfg.Devices:
		names = devices
	default:
		names = slices.Concat(devices, others)
	}
	var failed []string
	for _, name := range names {
		e, err := try(name, host)
		if err == nil {
			return e, nil
		}
		if !errors.Is(err, ofi.ErrNone) {
			failed = append(failed, err.Error())
		}
	}
	if len(failed) == 0 {
		return nil, fmt.Errorf("libfabric has nothing for %s", strings.Join(names, ", "))
	}
	return nil, errors.New(strings.Join(failed, "; "))
}

// try opens an endpoint of one provider, at the host's address if it has one of IP, or under the name of its files.
func try(name, host string) (*ofi.Endpoint, error) {
	core, _, _ := strings.Cut(name, ";")
	node := ""
	switch {
	case slices.Contains(byIP, core):
		node = host
	case core == "shm":
		removeLeftovers(sharedFiles)
		node = ownFiles()
	}
	all, err := ofi.Providers(name, node)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return ofi.Open(all[0])
}
