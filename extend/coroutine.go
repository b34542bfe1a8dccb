package extend

import (
	"context"
	"iter"

	"weft"
	"weft/internal/driver"
	"weft/internal/inside"
)

// A Coroutine is a function that can yield in its middle, and continues from there when it is
// resumed. While it runs, the goroutine that called Resume waits. It also works in a
// simulation, where the function may use weft. Make it with NewCoroutine. It is for one
// goroutine at a time.
type Coroutine struct {
	resume func() (struct{}, bool)
	stop   func()
}

// NewCoroutine returns a coroutine that runs f, beginning with the first Resume. F calls yield to stop
// until the next Resume. Yield returns false if the coroutine has been stopped for good: then f
// must return. A panic in f appears in Resume or Stop. Resume and yield cost as much as a
// switch of iter.Pull, and do not allocate.
func NewCoroutine(p *weft.Proc, f func(yield func() bool)) *Coroutine {
	if p.Simulated() {
		h := &hostedCoroutine{node: inside.OfProc(p).Node, f: f}
		return &Coroutine{h.resume, h.stop}
	}
	resume, stop := iter.Pull(func(yield func(struct{}) bool) {
		f(func() bool { return yield(struct{}{}) })
	})
	return &Coroutine{resume, stop}
}

// Resume runs the function until it yields or returns, and reports whether it can be resumed
// again.
func (c *Coroutine) Resume() bool {
	_, more := c.resume()
	return more
}

// Stop makes the function's current yield return false, and waits until the function has returned.
// If the function has not begun or has returned, Stop does nothing.
func (c *Coroutine) Stop() { c.stop() }

// A hostedCoroutine is one in a simulation: a goroutine of the rank, which runs while
// inside is set. When the Proc closes it is stopped.
type hostedCoroutine struct {
	node   *driver.Node
	f      func(yield func() bool)
	begun  bool
	inside bool
	ended  bool
	over   bool // it has been stopped
	panic  any
}

func (h *hostedCoroutine) resume() (_ struct{}, more bool) {
	if h.ended || h.over && !h.begun {
		return struct{}{}, false
	}
	h.inside = true
	if !h.begun {
		h.begun = true
		h.node.Go(h.run)
	}
	_ = h.node.AwaitHosted(context.Background(), func() bool { return !h.inside })
	if v := h.panic; v != nil {
		h.panic = nil
		panic(v)
	}
	return struct{}{}, !h.ended
}

func (h *hostedCoroutine) run() {
	defer func() {
		h.panic = recover()
		h.ended = true
		h.inside = false
	}()
	h.f(h.yield)
}

func (h *hostedCoroutine) yield() bool {
	if h.over {
		return false
	}
	h.inside = false
	_ = h.node.AwaitHosted(context.Background(), func() bool { return h.inside || h.node.Closing() })
	h.over = h.over || !h.inside
	return !h.over
}

func (h *hostedCoroutine) stop() {
	if h.over = true; h.begun {
		h.resume()
	}
}
