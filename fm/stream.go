package fm

import (
	"context"
	"fmt"

	"weft"
	"weft/internal/endpoint"
)

// A Stream is a message that is being sent. One goroutine may use it, until EndMessage.
type Stream struct {
	e         *Endpoint
	p         *peer
	to        int
	handler   int
	length    int  // bytes announced
	sent      int  // bytes that SendPiece has taken
	fill      int  // of these, bytes in the packet that is being filled
	begun     bool // a packet has been sent
	open      bool // the message has not ended
	inHandler bool
	owner     *Message // the message whose handler sends this one, or nil
	next      *Stream  // the next message that the same handler has begun

	short []byte     // the packet, if the whole message fits into it
	draft weft.Draft // otherwise the packet
}

// shortest is the length in bytes, with the head, of the longest message that is put together in
// memory of the endpoint rather than in a Draft of the port. It must not exceed a packet.
func (e *Endpoint) shortest() int { return min(2<<10, e.unit) }

// BeginMessage begins a message of up to length bytes for handler h of rank to. It never waits: if
// the credits for the whole message are not there, or another message to that rank is being sent,
// the error is ErrNoCredit, where the original returns NULL. A message of more packets than Credits
// returns is a weft.TooLongError: it needs BeginMessageWait.
func (e *Endpoint) BeginMessage(to, length, h int) (*Stream, error) {
	if err := e.ep.Enter(context.Background()); err != nil {
		return nil, err
	}
	defer e.ep.Leave()
	return e.tryBegin(to, length, h, false)
}

// BeginMessage is Endpoint.BeginMessage for a handler. A handler must not repeat it in a loop,
// since no credits come while the handler runs; it leaves the message to the program instead. The
// handler must end the Stream before it returns or calls Receive.
func (m *Message) BeginMessage(to, length, h int) (*Stream, error) {
	if m.state != running {
		return nil, &RuleError{"a handler sends before it returns"}
	}
	s, err := m.e.tryBegin(to, length, h, true)
	if err == nil {
		s.owner = m
		s.next = m.streams
		m.streams = s
	}
	return s, err
}

// BeginMessageWait is BeginMessage for a message of any length up to MaxMessage. It waits until no
// other message to that rank is being sent and until there is a credit; while it waits for a credit
// it extracts, and so does SendPiece.
func (e *Endpoint) BeginMessageWait(ctx context.Context, to, length, h int) (*Stream, error) {
	if err := e.ep.Enter(ctx); err != nil {
		return nil, err
	}
	defer e.ep.Leave()
	p, err := e.check(to, length, h)
	if err != nil {
		return nil, err
	}
	if !p.sending.TryLock() {
		var err error
		if e.ep.Pause(func() { err = p.sending.Lock(ctx) }); err != nil {
			return nil, e.ep.Explain(err, fmt.Sprintf("message to rank %d", to), "another message to it is being sent")
		}
	}
	s := e.start(p, to, length, h)
	if err := s.credit(ctx, 1); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// tryBegin is BeginMessage for a goroutine that has the endpoint.
func (e *Endpoint) tryBegin(to, length, h int, inHandler bool) (*Stream, error) {
	p, err := e.check(to, length, h)
	if err != nil {
		return nil, err
	}
	payload := e.unit - headSize
	if need := (length + payload - 1) / payload; need > p.credit || p.credit == 0 {
		if need > e.credits {
			return nil, &weft.TooLongError{
				Size: length, Limit: e.credits * payload, What: "what the credits of one rank hold",
			}
		}
		return nil, ErrNoCredit
	}
	if !p.sending.TryLock() {
		return nil, ErrNoCredit
	}
	s := e.start(p, to, length, h)
	s.inHandler = inHandler
	return s, nil
}

// check returns the peer that a message is for, or an error if a parameter is out of range.
func (e *Endpoint) check(to, length, h int) (*peer, error) {
	switch {
	case uint(to) >= uint(len(e.peers)):
		return nil, &weft.RankError{Rank: to, Size: len(e.peers)}
	case to == e.ep.Me:
		return nil, ErrSelf
	case uint(h) >= uint(len(e.table)):
		return nil, &weft.ConfigError{Field: "handler", Value: h, Min: 0, Max: len(e.table) - 1}
	case length < 0 || length > MaxMessage:
		return nil, &weft.TooLongError{Size: length, Limit: MaxMessage, What: "fm.MaxMessage"}
	case e.ep.Gone(to) != nil:
		return nil, e.ep.Gone(to)
	}
	if err := e.ep.Overdue(); err != nil {
		return nil, err
	}
	p := &e.peers[to]
	if p.sending == nil {
		p.sending = endpoint.NewMutex(e.p)
	}
	return p, nil
}

// start initializes the peer's Stream for a new message.
func (e *Endpoint) start(p *peer, to, length, h int) *Stream {
	s := &p.out
	if s.short == nil {
		s.short = make([]byte, e.shortest())
	}
	s.e = e
	s.p = p
	s.to = to
	s.handler = h
	s.length = length
	s.sent = 0
	s.fill = 0
	s.begun = false
	s.open = true
	s.inHandler = false
	return s
}

// close ends the message, so that the next message to that rank can begin.
func (s *Stream) close() {
	s.open = false
	s.draft.Discard()
	if m := s.owner; m != nil {
		for at := &m.streams; *at != nil; at = &(*at).next {
			if *at == s {
				*at = s.next
				break
			}
		}
		s.owner = nil
		s.next = nil
	}
	s.p.sending.Unlock()
}

// SendPiece sends the next bytes of the message. It copies them, and sends each packet that is full:
// when it returns, it holds back less than Config.Packet bytes, or the whole message if that is no
// longer than 2 KiB with its head. A piece may have any length, but more bytes than announced are a
// LengthError, and nothing is sent. If SendPiece must wait for credits it extracts meanwhile; for a
// message that BeginMessage has begun it never waits. If ctx ends first, or the rank is gone, the
// message is given up: the other rank's handler gets an AbortedError.
func (s *Stream) SendPiece(ctx context.Context, b []byte) error {
	if !s.open {
		return errEnded
	}
	if len(b) > s.length-s.sent {
		return &LengthError{Rank: s.to, Announced: s.length, Asked: s.sent + len(b)}
	}
	if s.length <= len(s.short)-headSize { // EndMessage sends it
		s.fill += copy(s.short[headSize+s.fill:], b)
		s.sent += len(b)
		return nil
	}
	if err := s.enter(ctx); err != nil {
		return s.abort(err)
	}
	defer s.leave()
	for len(b) > 0 {
		if s.draft.Data == nil {
			if err := s.newPacket(ctx, len(b)); err != nil {
				return s.abort(err)
			}
		}
		k := copy(s.draft.Data[headSize+s.fill:], b)
		b = b[k:]
		s.fill += k
		s.sent += k
		if headSize+s.fill == len(s.draft.Data) {
			flags := byte(0)
			if s.sent == s.length {
				flags = last
			}
			if err := s.commit(ctx, flags); err != nil {
				return s.abort(err)
			}
		}
	}
	return nil
}

// EndMessage ends the message, which may be shorter than announced. Errors are those of SendPiece.
func (s *Stream) EndMessage(ctx context.Context) error {
	if !s.open {
		return errEnded
	}
	if err := s.enter(ctx); err != nil {
		return s.abort(err)
	}
	defer s.leave()
	if err := s.finish(ctx); err != nil {
		return s.abort(err)
	}
	s.e.stats.Messages++
	s.close()
	return nil
}

// finish sends the last packet, unless it has been sent already.
func (s *Stream) finish(ctx context.Context) error {
	if s.begun && s.sent == s.length && s.fill == 0 {
		return nil // the packet with the last byte had the flag
	}
	packet := s.short
	if s.draft.Data != nil {
		packet = s.draft.Data
	}
	packet = packet[:headSize+s.fill]
	if err := s.credit(ctx, s.e.units(len(packet))); err != nil {
		return err
	}
	s.put(packet, last)
	err := s.e.ep.Port.TrySend(s.to, packet)
	if err == weft.ErrWouldBlock {
		err = s.e.ep.Port.Send(ctx, s.to, packet)
	}
	return err
}

// newPacket reserves memory of the port for the next packet. If have bytes, which are at hand, fill
// more than one packet, or end the message, the packet is larger.
func (s *Stream) newPacket(ctx context.Context, have int) (err error) {
	most := s.e.most
	if s.inHandler {
		most = min(most, s.p.credit)
	}
	left := s.length - s.sent
	size := s.e.unit
	for n := 2; n <= most && (headSize+have >= 2*size || have == left && headSize+left > size); n *= 2 {
		size *= 2
	}
	size = min(size, headSize+left)
	if err := s.credit(ctx, s.e.units(size)); err != nil {
		return err
	}
	s.draft, err = s.e.ep.Port.Reserve(ctx, s.to, size)
	return err
}

// units returns how many credits a packet of n bytes takes. It is a power of two, since the port
// keeps the packet in memory whose size is one.
func (e *Endpoint) units(n int) int {
	units := 1
	for units*e.unit < n {
		units *= 2
	}
	return units
}

// commit sends the packet that is in the draft.
func (s *Stream) commit(ctx context.Context, flags byte) error {
	if err := s.credit(ctx, s.e.units(len(s.draft.Data))); err != nil {
		return err
	}
	s.put(s.draft.Data, flags)
	return s.draft.Commit(ctx)
}

// put writes the head of a packet, and takes its credits.
func (s *Stream) put(b []byte, flags byte) {
	if !s.begun {
		flags |= first
	}
	s.e.head(b, s.p, kindPacket, flags, s.handler, s.length)
	s.begun = true
	s.fill = 0
	s.p.credit -= s.e.units(len(b))
	s.e.stats.Packets++
}

// credit waits until there are credits for a packet that takes n of them.
func (s *Stream) credit(ctx context.Context, n int) error {
	e := s.e
	for waited := false; s.p.credit < n; {
		if s.inHandler {
			return ErrNoCredit // does not happen: BeginMessage has checked that there are enough
		}
		if gone := e.ep.Gone(s.to); gone != nil {
			return gone
		}
		if !waited {
			waited = true
			e.stats.Waited++
		}
		if err := e.ep.Step(ctx); err != nil {
			return e.ep.Explain(err, fmt.Sprintf("message to rank %d", s.to),
				fmt.Sprintf("it has not extracted %d packets", e.credits))
		}
	}
	return e.ep.Gone(s.to)
}

// enter takes the endpoint for the calling goroutine; a handler's goroutine has it already.
func (s *Stream) enter(ctx context.Context) error {
	if s.inHandler {
		return nil
	}
	return s.e.ep.Enter(ctx)
}

// leave gives the endpoint back.
func (s *Stream) leave() {
	if !s.inHandler {
		s.e.ep.Leave()
	}
}

// abort gives the message up, and tells the other rank if a packet has been sent.
func (s *Stream) abort(why error) error {
	if s.begun && s.e.ep.Gone(s.to) == nil {
		_ = s.e.tell(s.to, kindAborted, s.handler, why.Error())
	}
	s.close()
	return why
}
