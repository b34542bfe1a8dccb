package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"weft/internal/sys"
)

// A Host tells which ranks are together.
type Host struct {
	ID      string // ranks with the same may share memory
	Machine string // ranks with the same share processors
}

// thisHost finds out where this process is. Two containers are two hosts, even on one machine.
// Where that cannot be known, hosts of one name are one.
func thisHost(name string) Host {
	id := sys.Identify()
	return Host{ID: readable(name) + "." + digest(name+" "+id.Space), Machine: digest(name + " " + id.Container)}
}

// HostName returns the name of the host with that ID, for people.
func HostName(id string) string {
	const digits = 16 // of a digest
	dot := strings.LastIndexByte(id, '.')
	if dot < 0 || len(id)-dot-1 != digits {
		return id
	}
	return id[:dot]
}

// readable returns a host's name with letters, digits, dots and dashes only.
func readable(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name[:min(len(name), 64)])
}

// digest returns 64 bits of the SHA-256 of a text, as hexadecimal digits: a name of fixed length that does not show
// the text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
