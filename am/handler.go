package am

import (
	"errors"
	"fmt"

	"weft"
	"weft/internal/endpoint"
)

// A Handler is an entry of the table: the function that runs when a message for it arrives. A
// handler runs to its end without blocking. As a request handler it may reply once, to the
// requester; as a reply handler it sends nothing. It must not call methods of the Endpoint. If it
// returns an error or panics, its own rank gets a HandlerError, and a request that it has not
// answered is returned to the requester.
type Handler struct {
	Name string // 1 to 255 bytes, the same at all ranks
	Func func(c *Call) error
}

// names returns the names of the handlers of an endpoint, which Open compares.
func names(number int, table []Handler) []string {
	var names []string
	for _, h := range table {
		name := h.Name
		if number > 0 && name != "" {
			name = fmt.Sprintf("%d: %s", number, name)
		}
		names = append(names, name)
	}
	return names
}

// A Call is the message that a handler handles. The Call and its slices are valid until the handler
// returns.
type Call struct {
	From     int      // the rank that sent the message
	Endpoint int      // the number of the endpoint that sent the request; 0 in a reply
	Words    []uint64 // at most MaxWords
	Data     []byte   // the payload of a medium message, or the bytes of a Store, Get or ReplyXfer in the Segment
	Off      int      // the offset of Data in the Segment, if it lies there

	e       *Endpoint
	handler int
	isReply bool
	replied bool
	running bool
	broke   error // the RuleError, if the handler broke a rule
	words   [MaxWords]uint64
}

// Reply answers a request with a message for handler h at the requester. It never waits.
func (c *Call) Reply(h int, words ...uint64) error { return c.reply(h, nil, words) }

// ReplyMedium is Reply with up to MaxMedium bytes, which it copies.
func (c *Call) ReplyMedium(h int, b []byte, words ...uint64) error { return c.reply(h, b, words) }

func (c *Call) reply(h int, b []byte, words []uint64) error {
	e := c.e
	if !c.mayReply() {
		return c.forbidden()
	}
	if err := c.asker().checkCall(h, b, words); err != nil {
		return err
	}
	c.replied = true
	if c.From == e.ep.Me {
		c.asker().self(&e.rep, 0, h, words, b, 0)
		return nil
	}
	n := e.put(e.out[:], address{}, kindReply, h, words)
	n += copy(e.out[n:], b)
	return e.answer(c.From, n)
}

// asker returns this rank's endpoint of the number of the one that has asked: the requester has the same
// handlers there.
func (c *Call) asker() *Endpoint { return c.e.ends[c.Endpoint] }

// mayReply reports whether the rules allow a reply now.
func (c *Call) mayReply() bool { return c.running && !c.isReply && !c.replied }

// forbidden returns the RuleError of a reply that the rules do not allow, and notes it for run.
func (c *Call) forbidden() error {
	rule := "a request handler sends at most one reply"
	switch {
	case !c.running:
		rule = "a reply is sent by its handler, before that returns"
	case c.isReply:
		rule = "a reply handler sends nothing"
	}
	err := &RuleError{Rule: rule, Handler: c.handler, Name: c.e.table[c.handler].Name}
	if c.running && c.broke == nil {
		c.broke = err
	}
	return err
}

// check returns where a request goes, or an error if its parameters are out of range.
func (e *Endpoint) check(to, h int, b []byte, words []uint64) (target, error) {
	g, err := e.target(to)
	if err != nil {
		return g, err
	}
	return g, e.ends[g.to].checkCall(h, b, words)
}

// checkCall returns an error if the parameters of a message to an endpoint of this number are out of range.
func (e *Endpoint) checkCall(h int, b []byte, words []uint64) error {
	switch {
	case uint(h) >= uint(len(e.table)):
		return &weft.ConfigError{Field: "handler", Value: h, Min: 0, Max: len(e.table) - 1}
	case len(words) > MaxWords:
		return &weft.ConfigError{Field: "number of words", Value: len(words), Min: 0, Max: MaxWords}
	case len(b) > MaxMedium:
		return &weft.TooLongError{Size: len(b), Limit: MaxMedium, What: "am.MaxMedium"}
	}
	return nil
}

// answer sends the reply that lies in b.out.
func (b *bundle) answer(to, n int) error {
	b.peers[to].replied++
	b.stats.Replies++
	return b.send(to, b.out[:n])
}

// run runs a handler, and returns how it has failed, or nil.
func (e *Endpoint) run(h int, c *Call) (err error) {
	c.handler = h
	c.replied = false
	c.running = true
	c.broke = nil
	defer func() {
		if c.running {
			c.running = false
			err = e.cut(c, recover())
		}
	}()
	err = e.table[h].Func(c)
	if c.running = false; err == nil {
		err = c.broke
	}
	if err != nil {
		e.fail(h, c.From, err)
	}
	return err
}

// cut reports a handler that did not return. If it has not panicked it is ending its goroutine:
// then the request is concluded and the endpoint released here, since the caller will not.
func (e *Endpoint) cut(c *Call, panicked any) error {
	err := endpoint.Cut(panicked)
	e.fail(c.handler, c.From, err)
	if panicked != nil {
		return err
	}
	if !c.isReply && c.From != e.ep.Me {
		e.conclude(c, err)
	}
	if !e.behind {
		e.ep.Release()
	}
	e.behind = false
	return err
}

// fail reports that a handler has failed, unless it failed only because the requester is gone,
// which is reported anyway.
func (e *Endpoint) fail(h, from int, err error) {
	var gone *weft.PeerError
	if errors.As(err, &gone) && gone.Rank == from {
		return
	}
	e.ep.Report(&HandlerError{Handler: h, Name: e.table[h].Name, From: from, Err: err})
}
