//go:build !linux

package netlab

import (
	"io"
	"net"

	"weft/internal/sys"
)

// Interface is the name of each host's interface.
const Interface = "eth0"

// A Lab cannot be made on this system.
type Lab struct{ Hosts []Host }

// A Host is a network namespace with one interface.
type Host struct {
	Namespace string
	IP        net.IP
}

// Make returns an error: network namespaces need Linux.
func Make(hosts, mtu int) (*Lab, error) { return nil, sys.ErrUnsupported }

// Lose returns an error.
func (l *Lab) Lose(share float64) error { return sys.ErrUnsupported }

// Limit returns an error.
func (l *Lab) Limit(bits uint64, queue uint32) error { return sys.ErrUnsupported }

// Record returns an error.
func (l *Lab) Record(out io.Writer) (func() error, error) { return nil, sys.ErrUnsupported }

// A Family says which addresses hosts have.
type Family int

// The families.
const (
	IPv4 Family = 4
	IPv6 Family = 6
	Both Family = 10
)

// MakeTrunk returns an error.
func (f Family) MakeTrunk(hosts, mtu, interfaces int) (*Lab, error) { return nil, sys.ErrUnsupported }

// MakeRouted returns an error.
func (f Family) MakeRouted(hosts, mtu int) (*Lab, error) { return nil, sys.ErrUnsupported }

// A Trouble cannot be made on this system.
type Trouble struct {
	Lose, Repeat, Overtake float64
	Batches                bool
	Longest                int
}

// Trouble returns an error.
func (l *Lab) Trouble(t Trouble) (end func() error, err error) { return nil, sys.ErrUnsupported }

// Interfaces returns nothing.
func Interfaces(n int) string { return "" }

// Remove does nothing.
func (l *Lab) Remove() error { return nil }

// Clean returns an error.
func Clean() ([]string, error) { return nil, sys.ErrUnsupported }
