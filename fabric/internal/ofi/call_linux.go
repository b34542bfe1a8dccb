package ofi

// A block is one call of a function of C: the function, its arguments, and what it has returned. It lies in mapped
// memory.
type block struct {
	f      uintptr
	args   [8]uintptr
	result uintptr
	looks  int    // how often the call is made, as long as it returns -FI_EAGAIN; 0 is 1. It is counted down
	next   *block // is carried out afterwards, unless this one has returned an error; nil: none
}
