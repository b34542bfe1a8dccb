package endpoint

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"weft/internal/monotime"
	"weft/internal/transport"
)

// An endpoint that sends to another one greets it first, since the other may not know its name: its program has not
// inserted it so far, or never will. A greeting is a packet of its own beside the packets of links, little endian:
//
//	0  4  "hi:" and 1: a question, 0: an answer
//	4  4  number of the receiver
//	8  64 name of the sender
//	72 16 tag, by the job's secret
//
// A question is repeated until there is an answer, each time after a longer pause. A greeting from a stranger is
// dropped, and so is one from another start of an endpoint that is known.
const (
	greetAt    = 8
	greetTag   = greetAt + NameSize
	greetSize  = greetTag + 16
	greetFirst = 20 * time.Millisecond
	greetLast  = time.Second
)

// greeting is how far first contact has come.
type greeting struct {
	answered bool
	pause    time.Duration // after the last question
}

// greet asks a peer for an answer. The lock is held.
func (e *Endpoint) greet(p *peer) {
	if p.greeting.answered {
		return
	}
	e.sendGreeting(p, 1)
	p.greeting.pause = min(max(2*p.greeting.pause, greetFirst), greetLast)
	if len(e.peers.greet) == 0 {
		e.peers.greetAt = e.now().Add(greetFirst)
	}
	e.peers.greet = append(e.peers.greet, p)
}

// greetAgain repeats the questions that have no answer. The lock is held.
func (e *Endpoint) greetAgain(now monotime.Time) {
	again := e.peers.greet
	e.peers.greet = nil
	for _, p := range again {
		if e.eng.Gone(p.id) == nil {
			e.greet(p)
			e.peers.greetAt = max(e.peers.greetAt, now.Add(p.greeting.pause/2))
		}
	}
}

func (e *Endpoint) sendGreeting(p *peer, question byte) {
	b := make([]byte, greetTag, greetSize)
	copy(b, "hi:")
	b[3] = question
	binary.LittleEndian.PutUint32(b[4:], uint32(p.id))
	own := e.name.bytes()
	copy(b[greetAt:], own[:])
	b = append(b, e.greetingTag(b)...)
	p.transport.Send([]transport.Out{{Peer: p.id, Header: b}}) // if it is lost it is repeated
}

func (e *Endpoint) greetingTag(b []byte) []byte {
	mac := hmac.New(sha256.New, e.who.secret)
	mac.Write(b)
	return mac.Sum(nil)[:greetSize-greetTag]
}

// onGreeting handles a packet that may be a greeting, and reports whether it is one. The lock is held.
func (e *Endpoint) onGreeting(b []byte) bool {
	if len(b) != greetSize || string(b[:3]) != "hi:" {
		return false
	}
	n, err := parseName(b[greetAt:greetTag])
	to := int(binary.LittleEndian.Uint32(b[4:]))
	if err != nil || to != e.name.id || n.id == e.name.id || n.job != e.name.job ||
		!hmac.Equal(b[greetTag:], e.greetingTag(b[:greetTag])) {
		return true
	}
	p := e.meet(&n)
	if p.name.life != n.life {
		return true
	}
	p.greeting.answered = true
	if b[3] == 1 {
		e.connect(p)
		if p.transport != nil {
			e.sendGreeting(p, 0)
		}
	}
	return true
}
