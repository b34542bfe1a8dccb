//go:build !amd64

package checksum

// products adds the pairs of numbers of b to those of the key, which is as long, and adds
// up the products of the pairs.
func products(key []uint32, b []byte) uint64 { return add(key, b) }
