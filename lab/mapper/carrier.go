package mapper

import "time"

// A carrier carries the scouts of a mapper: a Wiring in virtual time, or Cables between network namespaces.
type carrier interface {
	// carry sends probes from the mapper's host one after another, and returns the outcome of each: the host that
	// answered, itself, or silence. It waits until no reply can arrive any more.
	carry(host int, probes []probe) []int
	now() time.Duration
	hosts() []string // their names, in the order of their numbers
}
