//go:build !amd64 || race

package mem

import "sync/atomic"

// storeRelease publishes everything written before, and v.
func storeRelease(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
