package coord

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// Class says what an object is.
type Class uint8

// The classes of objects.
const (
	QueueLock   Class = iota + 1 // the distributed queue
	CentralLock                  // the Non-Collision Lock
	RWLock                       // a Non-Collision Lock that readers share
	Semaphore
	Cond
	Barrier // by a plan
	Regions // RBCQ-1
)

// A Config says what an object is. All ranks that use it must say the same.
type Config struct {
	Class  Class
	Name   string
	Fair   bool   // QueueLock: a rank that takes the lock again queues behind the others
	N      uint32 // Semaphore: permits at the beginning
	Undo   bool   // Semaphore: permits of a rank that dies come back
	Window int    // Barrier: phases that may be open at a time

	// Of barriers.
	Members   []int
	Algorithm Algorithm
	Arity     int // of a tree
	Aligned   bool
	Memory    uint8 // 1: it only introduces members that share memory; 2: on several hosts
}

// place returns the place of a rank among the members, or -1.
func (c *Config) place(rank int) int {
	if c.Members == nil {
		return rank
	}
	return slices.Index(c.Members, rank)
}

// id returns what a name is called in events. Locks and semaphores share names,
// so that ranks that disagree on what a name is find out.
func (c *Config) id() uint64 {
	space := byte('l')
	switch c.Class {
	case Cond:
		space = 'c'
	case Barrier, Regions:
		space = 'b'
	}
	sum := sha256.Sum256(append([]byte{space}, c.Name...))
	return binary.LittleEndian.Uint64(sum[:])
}

// A signature is what ranks must agree on, in eight bytes: the class, the
// algorithm or the flags, the number of members or permits, and a check of all
// the rest.
type signature uint64

// All is how many ranks the job has.
func (c *Config) signature(all int) signature {
	b := binary.LittleEndian.AppendUint64(nil, uint64(c.Arity)<<32|uint64(c.Window))
	size := len(c.Members)
	if c.Members == nil {
		size = all
	}
	for _, m := range c.Members {
		b = binary.LittleEndian.AppendUint32(b, uint32(m))
	}
	sum := sha256.Sum256(b)
	check := uint64(sum[0]) | uint64(sum[1])<<8 | uint64(sum[2])<<16
	how := uint64(c.Algorithm)
	n := uint64(size)
	switch c.Class {
	case Barrier:
		if c.Aligned {
			how |= 0x80
		}
		how |= uint64(c.Memory) << 4
	case Semaphore, QueueLock, CentralLock, RWLock, Cond:
		n = uint64(c.N) >> 24 & 0xff
		check = uint64(c.N) & 0xffffff
		if c.Fair || c.Undo {
			how = 1
		}
	}
	return signature(uint64(c.Class)<<56 | how<<48 | n<<24 | check)
}

func (s signature) class() Class  { return Class(s >> 56) }
func (s signature) flag() bool    { return s>>48&1 != 0 }
func (s signature) count() uint32 { return uint32(s) }

// String says what a signature describes.
func (s signature) String() string {
	members := int(s >> 24 & 0xffffff)
	switch s.class() {
	case QueueLock:
		if s.flag() {
			return "a fair lock by distributed queue"
		}
		return "a lock by distributed queue"
	case CentralLock:
		return "a lock with a central queue"
	case RWLock:
		return "a read-write lock"
	case Semaphore:
		text := fmt.Sprintf("a semaphore that begins with %d permits", s.count())
		if s.flag() {
			text += " and undoes"
		}
		return text
	case Cond:
		return "a condition"
	case Barrier:
		kind := Algorithm(s >> 48 & 0xf).String()
		switch {
		case s>>48&0x80 != 0:
			kind = "aligned"
		case s>>48&0x10 != 0:
			kind = "shared memory"
		case s>>48&0x20 != 0:
			kind = "two-level"
		}
		text := fmt.Sprintf("a %s barrier of %d ranks", kind, members)
		return fmt.Sprintf("%s (check %06x of which, window and arity)", text, s.check())
	case Regions:
		return fmt.Sprintf("an RBCQ-1 barrier of %d ranks (check %06x of which)", members, s.check())
	}
	return "more than it can remember"
}

func (s signature) check() uint32 { return uint32(s) & 0xffffff }
