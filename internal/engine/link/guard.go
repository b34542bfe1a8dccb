package link

import (
	"fmt"

	"weft/internal/engine/wire"
)

// A Guard is what protects the packets of a link. Guards are in the order of their
// strength: each keeps off what the ones before it do. (PROTOCOL §2.2)
type Guard int8

// The guards.
const (
	Checked   Guard = iota - 1 // from damage, by a checksum: the network is trusted, no packets are forged there
	Tagged                     // from forgery and replay, by a tag
	Encrypted                  // from reading
)

// String returns the name that users know the guard by.
func (g Guard) String() string {
	switch g {
	case Checked:
		return "checksum"
	case Tagged:
		return "authenticate"
	case Encrypted:
		return "encrypt"
	}
	return fmt.Sprintf("guard %d", int8(g))
}

// ParseGuard returns the guard of a name.
func ParseGuard(name string) (g Guard, ok bool) {
	for g = Checked; g <= Encrypted; g++ {
		if g.String() == name {
			return g, true
		}
	}
	return Tagged, false
}

// flag returns what says in a packet that it has the guard.
func (g Guard) flag() wire.Flags {
	switch g {
	case Checked:
		return wire.Checksum
	case Encrypted:
		return wire.Encrypted
	default:
		return 0
	}
}

// guardOf returns the guard of a packet.
func guardOf(f *wire.Link) Guard {
	switch {
	case f.Flags&wire.Checksum != 0:
		return Checked
	case f.Flags&wire.Encrypted != 0:
		return Encrypted
	default:
		return Tagged
	}
}
