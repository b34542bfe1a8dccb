package transport

import (
	"runtime"
	"sync/atomic"
)

// A Mapping is memory that several processes see. Its owner may take it back at any
// moment, also while others are in the middle of reading or writing it. They do not
// fault: from then on Bytes is memory of their own, which no other process sees.
//
// A goroutine that looks at Bytes keeps the Mapping alive (runtime.KeepAlive) until it has
// done so. When nothing refers to the Mapping, its addresses may be used for something else.
type Mapping struct {
	Bytes    []byte
	ReadOnly bool // Bytes must not be written to

	gone atomic.Bool
}

// NewMapping returns memory as a Mapping. Unmap, if it is not nil, is called when
// nothing refers to the Mapping.
func NewMapping(bytes []byte, readOnly bool, unmap func([]byte)) *Mapping {
	m := &Mapping{Bytes: bytes, ReadOnly: readOnly}
	if unmap != nil {
		runtime.AddCleanup(m, unmap, bytes)
	}
	return m
}

// Gone reports whether the memory has been taken back. What was read from Bytes
// before Gone returned false is what its owner and others had written.
func (m *Mapping) Gone() bool { return m.gone.Load() }

// Retire notes that the memory is taken back. The transport does it before Bytes
// changes.
func (m *Mapping) Retire() { m.gone.Store(true) }
