// Package mem is access to memory that other threads or processes use at the same time: words
// that are read and written atomically, and copies that do not tear an aligned word.
//
// Offsets are in bytes. Every function panics, as indexing does, when what it is asked to
// touch lies outside the slice; the functions of words also panic when the address is not a
// multiple of 8. Callers check what they were given before. Memory that is handed in must be
// mapped or allocated with an alignment of 8 bytes.
//
// Only this package and internal/sys may import unsafe for the sake of memory
// (deps_test.go in the root).
//
// Tested in mem_test.go; and under load by package ring's tests, in shared memory by those of
// internal/transport/shm.
package mem
