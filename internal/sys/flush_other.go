//go:build !amd64

package sys

// FlushCache does nothing here: no instruction that programs may use.
func FlushCache([]byte) {}
