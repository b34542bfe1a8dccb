package driver

import "context"

// Endless returns ctx, or for a nil context one that never ends. Each call that waits begins with it, before it takes a
// lock.
func Endless(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
