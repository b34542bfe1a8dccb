package weft

import (
	"context"
	"iter"
)

// A Coroutine is a function that can stop in its middle, and goes on from there when it is
// resumed: between Resume and yield it runs in the place of its caller. It is as good in a
// simulation, where what it does may use weft. Make it with Proc.Coroutine. One goroutine
// at a time may use it.
type Coroutine struct {
	resume func() (struct{}, bool)
	stop   func()
}

// Coroutine returns a coroutine of f, which begins with the first Resume. Yield stops it,
// and returns true when it is resumed, or false when f must return: it has been stopped.
// A panic in f comes out of Resume, or Stop. To resume and to yield
// cost what a switch of iter.Pull does, and allocate nothing.
func (p *Proc) Coroutine(f func(yield func() bool)) *Coroutine {
	if p.node.Hosted() {
		h := &hostedCoroutine{p: p, f: f}
		return &Coroutine{h.resume, h.stop}
	}
	resume, stop := iter.Pull(func(yield func(struct{}) bool) {
		f(func() bool { return yield(struct{}{}) })
	})
	return &Coroutine{resume, stop}
}

// Resume lets the function go on until it yields or returns, and reports whether it may be
// resumed again.
func (c *Coroutine) Resume() bool {
	_, more := c.resume()
	return more
}

// Stop makes the yield that the function is stopped in return false, and returns when the
// function has. What has not begun, or has ended, is left as it is.
func (c *Coroutine) Stop() { c.stop() }

// A hostedCoroutine is one in a simulation: a goroutine of the rank, which runs while
// inside is set. When the Proc closes it is stopped.
type hostedCoroutine struct {
	p      *Proc
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
		h.p.node.Go(h.run)
	}
	_ = h.p.node.AwaitHosted(context.Background(), func() bool { return !h.inside })
	if v := h.panic; v != nil {
		h.panic = nil
		panic(v)
	}
	return struct{}{}, !h.ended
}

func (h *hostedCoroutine) run() {
	defer func() {
		h.panic = recover()
		h.ended, h.inside = true, false
	}()
	h.f(h.yield)
}

func (h *hostedCoroutine) yield() bool {
	if h.over {
		return false
	}
	h.inside = false
	_ = h.p.node.AwaitHosted(context.Background(), func() bool { return h.inside || h.p.node.Closing() })
	h.over = h.over || !h.inside
	return !h.over
}

func (h *hostedCoroutine) stop() {
	if h.over = true; h.begun {
		h.resume()
	}
}
