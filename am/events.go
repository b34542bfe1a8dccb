package am

import "context"

// Events are what ends a Wait of an endpoint's bundle.
type Events uint8

// The events.
const (
	NotEmpty Events = iota // a message for the endpoint has arrived, or a request of it has come back
	NoEvents               // nothing
)

// SetEvents sets what ends a Wait, for this endpoint: the event mask of AM-II. At first it is NotEmpty.
func (e *Endpoint) SetEvents(m Events) error {
	if err := e.ep.Enter(context.Background()); err != nil {
		return err
	}
	defer e.ep.Leave()
	e.events = m
	return nil
}

// A passed is a message that Wait has passed over, because it is for an endpoint without events.
type passed struct {
	from int
	data []byte
}

// Wait returns when a message has arrived for an endpoint of the bundle whose events say so, or with an error as Poll
// does. It runs no handler; the next Poll does, also those of messages for the other endpoints. It is the am_sleep of
// LAM.
func (e *Endpoint) Wait(ctx context.Context) error {
	if err := e.ep.Enter(ctx); err != nil {
		return err
	}
	defer e.ep.Leave()
	for {
		if err := e.ep.Failure(); err != nil {
			return err
		}
		if e.event() {
			return nil
		}
		if e.ep.Have {
			e.passed = append(e.passed, passed{e.ep.From, append([]byte(nil), e.ep.Data...)})
			e.ep.Release()
		}
		if err := e.ep.Receive(ctx); err != nil {
			return e.ep.Explain(err, "wait for a message", "")
		}
	}
}

// event reports whether a message is there that ends a Wait.
func (b *bundle) event() bool {
	for i, m := range b.passed {
		if b.concerns(m.from, m.data, b.passed[:i]).events == NotEmpty {
			return true
		}
	}
	return b.ep.Have && b.concerns(b.ep.From, b.ep.Data, b.passed).events == NotEmpty
}

// concerns returns the endpoint that a message is for, or the first one if it is for none. The messages in before have
// not been handled either, and come first.
func (b *bundle) concerns(from int, m []byte, before []passed) *Endpoint {
	if len(b.ends) == 1 {
		return b.ends[0]
	}
	if m[0] < kindReply {
		if a, _, ok := b.peek.parse(from, m); ok && int(a.to) < len(b.ends) {
			return b.ends[a.to]
		}
		return b.ends[0]
	}
	p := &b.peers[from]
	answered := p.answered
	for _, earlier := range before {
		if earlier.from == from && earlier.data[0] >= kindReply {
			answered++
		}
	}
	if int32(p.sent-answered) <= 0 {
		return b.ends[0]
	}
	return p.asked[answered&b.mask].from
}

// catchUp handles the messages that Wait has passed over.
func (b *bundle) catchUp() {
	for len(b.passed) > 0 {
		m := b.passed[0]
		b.passed = b.passed[1:]
		b.behind = true
		b.message(m.from, m.data)
		b.behind = false
	}
}
