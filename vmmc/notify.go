package vmmc

import (
	"errors"
	"fmt"
	"runtime/debug"

	"weft"
)

// A Notification tells the owner of an export that the data of a send is in place.
type Notification struct {
	Export *Export
	From   int // the sender
	Off    int // where its data lies
	Len    int // bytes
}

// BlockNotifications holds notifications back: no handler begins after it has returned.
// Notifications wait in order, and when Config.NotifyBuffer is full, so do the sends that ask for
// more.
func (e *Endpoint) BlockNotifications() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.held = true
}

// UnblockNotifications lets handlers run again, beginning with the notifications that have waited.
func (e *Endpoint) UnblockNotifications() {
	e.mu.Lock()
	e.held = false
	e.mu.Unlock()
	e.gate.Set()
}

// notify handles notifications until the endpoint is closed.
func (e *Endpoint) notify() {
	for {
		m, err := e.notices.Recv(e.ctx)
		if errors.Is(err, weft.ErrPeer) {
			continue
		}
		if err != nil {
			return
		}
		from := m.From
		f, ok := parse(m.Data)
		m.Release()
		if from == e.p.Rank() && int(f.rank) < e.p.Size() {
			from = int(f.rank) // the notification of a transfer that a server has received
		}
		if !ok || f.kind != 0 {
			continue
		}
		x := e.admitted(from, &f)
		if x == nil {
			continue
		}
		e.handle(x, Notification{x, from, int(f.off), int(f.n)})
		x.leave()
	}
}

// admitted returns the export that a notification is for, when handlers may run, or nil if there is
// nothing to call.
func (e *Endpoint) admitted(from int, f *frame) *Export {
	e.mu.Lock()
	for e.held && !e.closed {
		e.mu.Unlock()
		if e.gate.Wait(e.ctx) != nil {
			return nil
		}
		e.mu.Lock()
	}
	defer e.mu.Unlock()
	x, s := e.target(from, f)
	switch {
	case s != fine:
		return nil
	case e.closed || x.notify == nil:
		x.users-- // it has not ended, so this is not the last
		return nil
	}
	return x
}

// handle calls a handler.
func (e *Endpoint) handle(x *Export, n Notification) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		e.mu.Lock()
		e.failed = errors.Join(e.failed, &HandlerError{x.name, n.From, v, string(debug.Stack())})
		e.mu.Unlock()
		reason := fmt.Sprintf("its notification handler panicked: %v", v)
		e.p.Go(func() { _ = x.Revoke(e.ctx, reason) })
	}()
	x.notify(e.ctx, n)
}
