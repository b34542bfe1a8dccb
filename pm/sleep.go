package pm

import "context"

// BeforeSelect returns a channel that gets a value as soon as there is something to receive: the
// descriptor of pmGetFd and the call pmBeforeSelect in one. The program calls BeforeSelect,
// receives until the error is weft.ErrWouldBlock, sleeps in a select, and then calls AfterSelect.
// In a simulation it must use Wait instead, without which the simulated world does not go on.
func (x *Context) BeforeSelect() <-chan struct{} {
	for _, l := range x.parts {
		l.more.Notify(x.signal)
	}
	return x.signal.C()
}

// AfterSelect ends what BeforeSelect has begun (pmAfterSelect).
func (x *Context) AfterSelect() {
	for _, l := range x.parts {
		l.more.Notify(nil)
	}
	x.signal.Reset()
}

// Wait returns when there is something to receive, and leaves it there.
func (x *Context) Wait(ctx context.Context) error {
	if len(x.parts) == 1 {
		return x.parts[0].port.Await(ctx)
	}
	x.BeforeSelect()
	defer x.AfterSelect()
	return x.signal.Wait(ctx)
}
