package am

import (
	"context"
	"fmt"
)

// burst is how many messages one Poll handles at most, so that it ends even if messages keep
// arriving.
const burst = 256

// Poll runs the handlers of messages that have arrived, and does not wait. It returns the oldest
// error that has not been reported yet, if there is one: a HandlerError of a handler of this rank,
// a ReturnedError of a request of this rank, or the weft.PeerError of a rank that has died. Poll,
// Wait, Until, Flush and Barrier report each error once, and the endpoint can be used on.
func (e *Endpoint) Poll() error {
	if err := e.ep.Enter(context.Background()); err != nil {
		return err
	}
	defer e.ep.Leave()
	e.catchUp()
	for range burst {
		ok, err := e.ep.TryReceive()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		e.handle()
	}
	return e.ep.Failure()
}

// Until polls until cond returns true, and sleeps while nothing arrives. It calls cond first, and
// again after each handler; no handler runs during cond, and cond must not call the endpoint.
// Errors are those of Poll.
func (e *Endpoint) Until(ctx context.Context, cond func() bool) error {
	if err := e.ep.Enter(ctx); err != nil {
		return err
	}
	e.catchUp()
	e.ep.Leave()
	return e.ep.Until(ctx, cond)
}

// Flush polls until all requests of this rank have been answered or returned. Errors are those of
// Poll: when Flush returns nil, no error is left to be reported.
func (e *Endpoint) Flush(ctx context.Context) error {
	if err := e.ep.Enter(ctx); err != nil {
		return err
	}
	defer e.ep.Leave()
	return e.flush(ctx)
}

func (e *Endpoint) flush(ctx context.Context) error {
	e.catchUp()
	for e.open > 0 && !e.ep.Failed() {
		if err := e.ep.Step(ctx); err != nil {
			return e.ep.Explain(err, "flush", fmt.Sprintf("%d requests are unanswered", e.open))
		}
	}
	return e.ep.Failure()
}

// Barrier calls Flush, and then waits until all ranks have called Barrier. It polls while it waits,
// so that this rank serves the others. When it returns nil, every request that any rank had sent
// before has been answered.
//
// If a rank dies or leaves before it has called Barrier, all others get a weft.PeerError, and get
// it again from each later Barrier. Other errors of Poll are reported later.
func (e *Endpoint) Barrier(ctx context.Context) error {
	if err := e.ep.Enter(ctx); err != nil {
		return err
	}
	defer e.ep.Leave()
	if err := e.flush(ctx); err != nil {
		return err
	}
	return e.ep.Explain(e.ep.Barrier(ctx), "barrier", "")
}
