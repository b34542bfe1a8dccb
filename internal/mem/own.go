//go:build amd64 || arm64

package mem

import "unsafe"

// Own asks the processor to fetch the lines of some memory, and to take them away from the other processors that have
// them, while the program does something else. A producer calls it for what it will write next, which the consumer has
// read and still has: else the write takes as long as a message to the other processor and back, line by line. Of long
// memory it asks for nothing where Move takes lines over without reading them; elsewhere for the beginning, since the
// rest would have left the caches when it is written.
func Own(b []byte) {
	const most = 16 << 10
	if len(b) > 0 && (len(b) < long || !strings) {
		own(unsafe.Pointer(unsafe.SliceData(b)), min(len(b), most))
	}
}

// own is Own for n bytes, which are more than none.
//
//go:noescape
func own(p unsafe.Pointer, n int)
