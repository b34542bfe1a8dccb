//go:build linux && !amd64

package ofi

import "github.com/ebitengine/purego"

// call makes the calls of the chain that begins with a block.
func (b *block) call() int64 {
	for k := b; ; k = k.next {
		for r := int64(eagain); r == eagain; k.looks-- {
			v, _, _ := purego.SyscallN(k.f, k.args[:]...)
			r = int64(v)
			k.result = v
			if k.looks <= 1 {
				break
			}
		}
		if int64(k.result) < 0 || k.next == nil {
			return int64(b.result)
		}
	}
}
