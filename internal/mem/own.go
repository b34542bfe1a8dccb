//go:build amd64 || arm64

package mem

import "unsafe"

// Own asks the processor to fetch the lines of some memory, and to take them away from the other processors that have
// them, while the program does something else. A producer calls it for what it will write next, which the consumer has
// read and still has: else the write takes as long as a message to the other processor and back, line by line.
func Own(b []byte) {
	if len(b) > 0 {
		own(unsafe.Pointer(unsafe.SliceData(b)), len(b))
	}
}

// own is Own for n bytes, which are more than none.
//
//go:noescape
func own(p unsafe.Pointer, n int)
