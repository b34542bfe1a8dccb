//go:build linux && !amd64

package ofi

import "github.com/ebitengine/purego"

// A stack is nothing here: functions of C run on that of the thread.
type stack struct{}

func (s *stack) open() error { return nil }

func (s *stack) close() {}

// call makes the calls of the chain that begins with a block.
func (s *stack) call(b *block) int64 {
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
