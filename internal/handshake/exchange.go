package handshake

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"time"
)

// In the exchange two processes prove to each other that they know the job's secret. All messages have
// fixed lengths (PROTOCOL §8):
//
//	dialler                                         listener
//	hello: rank, wanted rank, share, ticket    ->
//	                                           <-   reply: status, share
//	proof                                      ->
//	                                           <-   last: status, proof
//
// The dialler proves first, so that a stranger that dials hears nothing that depends on the secret but whether its
// ticket was right. A share is the public half of a pair of X25519 keys that is made for one exchange. Proofs and keys
// depend on the secret and on what the two shares agree on: what was recorded stays unreadable when the secret becomes
// known, and no two exchanges have a key in common. The ticket is a MAC of the rest of the hello. It can be
// repeated, so it proves nothing; but it tells the listener, before it keeps any state, which handshakes to keep.

// Lengths in bytes, and the time that an exchange may take.
const (
	shareSize  = 32
	ticketSize = 16

	HelloSize = 8 + shareSize + ticketSize
	ReplySize = 1 + shareSize
	ProofSize = sha256.Size
	LastSize  = 1 + ProofSize

	Timeout = 10 * time.Second
)

// The status of a reply or a last message.
const (
	Accepted = 1 // go on; the connection is made
	Crowded  = 2 // the listener has no descriptor for the connection
	stranger = 3 // the ticket is wrong
)

// ErrStranger reports a peer that does not know the job's secret, or for which this process does not.
var ErrStranger = errors.New("the peer does not belong to this job")

// ErrCrowded reports a listener that has no descriptor left.
var ErrCrowded = errors.New("the peer has as many descriptors as it may (ulimit -n)")

// A Pair is two ranks of a job, one of which dials the other, with the job's secret.
type Pair struct {
	Secret            []byte // of the job
	Job               uint64
	Dialler, Listener uint32

	// Local says that nobody can listen between the two processes. Then the shares are random numbers: an
	// agreement on keys would cost more than the rest of the exchange.
	Local bool
}

// id returns the job and both ranks, as they stand in proofs and keys.
func (p Pair) id() []byte {
	b := binary.LittleEndian.AppendUint64(nil, p.Job)
	b = binary.LittleEndian.AppendUint32(b, p.Dialler)
	return binary.LittleEndian.AppendUint32(b, p.Listener)
}

// ticket returns the MAC of a hello with a share.
func (p Pair) ticket(protocol string, share []byte) []byte {
	h := hmac.New(sha256.New, p.Secret)
	for _, part := range [][]byte{[]byte("weft " + protocol + " ticket"), p.id(), share} {
		h.Write(part)
	}
	return h.Sum(nil)[:ticketSize]
}

// A Session is what both sides of an exchange have in common.
type Session struct {
	root []byte // of all its keys
	id   []byte
}

// session returns the Session that follows from the shares, and what they agree on.
func (p Pair) session(dialler, listener, agreed []byte) Session {
	root, err := hkdf.Extract(sha256.New, slices.Concat(p.Secret, agreed), slices.Concat(dialler, listener))
	if err != nil {
		panic(err) // happens only where SHA-256 is not available
	}
	return Session{root, p.id()}
}

// Key returns size bytes for a purpose that only the two sides of the exchange know [RFC 5869].
func (s Session) Key(purpose string, size int) []byte {
	key, err := hkdf.Expand(sha256.New, s.root, "weft "+purpose+string(s.id), size)
	if err != nil {
		panic(err) // the size is small
	}
	return key
}

// proof returns what a side sends to prove that it has the Session.
func (s Session) proof(protocol, side string) []byte { return s.Key(protocol+" "+side, ProofSize) }

// A side is one end of an exchange.
type side struct {
	Session  Session // once the peer's share has been heard
	pair     Pair
	protocol string
	private  *ecdh.PrivateKey // nil if the pair is local
	share    []byte
}

func (p Pair) side(protocol string) side {
	s := side{pair: p, protocol: protocol}
	if p.Local {
		s.share = make([]byte, shareSize)
		rand.Read(s.share)
		return s
	}
	var err error
	if s.private, err = ecdh.X25519().GenerateKey(rand.Reader); err != nil {
		panic(err) // rand.Reader does not fail
	}
	s.share = s.private.PublicKey().Bytes()
	return s
}

// agree returns what this side's share and the peer's agree on.
func (s *side) agree(share []byte) ([]byte, error) {
	if s.private == nil {
		return nil, nil
	}
	public, err := ecdh.X25519().NewPublicKey(share)
	if err != nil {
		return nil, err
	}
	agreed, err := s.private.ECDH(public)
	if err != nil { // a share of low order
		return nil, ErrStranger
	}
	return agreed, nil
}

// A Caller is the dialler's side of an exchange.
type Caller struct{ side }

// Call begins an exchange. The name of the protocol is part of the proofs.
func (p Pair) Call(protocol string) *Caller { return &Caller{p.side(protocol)} }

// Hello returns the first message.
func (c *Caller) Hello() []byte {
	b := binary.LittleEndian.AppendUint32(nil, c.pair.Dialler)
	b = binary.LittleEndian.AppendUint32(b, c.pair.Listener)
	return slices.Concat(b, c.share, c.pair.ticket(c.protocol, c.share))
}

// Reply takes the listener's reply, and returns this side's proof.
func (c *Caller) Reply(reply []byte) (proof []byte, err error) {
	if len(reply) != ReplySize || reply[0] != Accepted {
		return nil, ErrStranger
	}
	share := reply[1:]
	agreed, err := c.agree(share)
	if err != nil {
		return nil, err
	}
	c.Session = c.pair.session(c.share, share, agreed)
	return c.Session.proof(c.protocol, "dialler"), nil
}

// Last takes the listener's last message. Without an error the peer is the rank that was called.
func (c *Caller) Last(last []byte) error {
	if len(last) != LastSize || !hmac.Equal(last[1:], c.Session.proof(c.protocol, "listener")) {
		return ErrStranger
	}
	if last[0] != Accepted {
		return ErrCrowded
	}
	return nil
}

// Dial runs the dialler's side over a stream. The error is a *CutError if the connection has ended before the reply.
func (p Pair) Dial(c io.ReadWriter, protocol string) (Session, error) {
	caller := p.Call(protocol)
	var reply [ReplySize]byte
	_, err := c.Write(caller.Hello())
	if err == nil {
		_, err = io.ReadFull(c, reply[:])
	}
	if err != nil {
		return Session{}, &CutError{err}
	}
	proof, err := caller.Reply(reply[:])
	if err != nil {
		return Session{}, err
	}
	if _, err := c.Write(proof); err != nil {
		return Session{}, err
	}
	var last [LastSize]byte
	if _, err := io.ReadFull(c, last[:]); err != nil {
		return Session{}, err
	}
	return caller.Session, caller.Last(last[:])
}

// A Callee is the listener's side of an exchange.
type Callee struct {
	side
	reply []byte
}

// Hear takes a hello. find returns the pair of two ranks, or an error if there is none. If Hear returns an error,
// Refusal may be sent.
func Hear(hello []byte, protocol string, find func(dialler, listener uint32) (Pair, error)) (*Callee, error) {
	if len(hello) != HelloSize {
		return nil, ErrStranger
	}
	pair, err := find(binary.LittleEndian.Uint32(hello), binary.LittleEndian.Uint32(hello[4:]))
	if err != nil {
		return nil, err
	}
	share := hello[8 : 8+shareSize]
	if !hmac.Equal(hello[8+shareSize:], pair.ticket(protocol, share)) {
		return nil, ErrStranger
	}
	l := &Callee{side: pair.side(protocol)}
	agreed, err := l.agree(share)
	if err != nil {
		return nil, err
	}
	l.Session = pair.session(share, l.share, agreed)
	l.reply = append([]byte{Accepted}, l.share...)
	return l, nil
}

// Refusal returns the reply to a stranger.
func Refusal() []byte { return append([]byte{stranger}, make([]byte, shareSize)...) }

// Pair returns the two ranks, of which the dialler has not proved to be one before Check.
func (l *Callee) Pair() Pair { return l.pair }

// Reply returns the reply to the hello.
func (l *Callee) Reply() []byte { return l.reply }

// Check checks the dialler's proof. Without an error the peer is the rank that it says.
func (l *Callee) Check(proof []byte) error {
	if !hmac.Equal(proof, l.Session.proof(l.protocol, "dialler")) {
		return ErrStranger
	}
	return nil
}

// Last returns the last message, with the status Accepted or Crowded, after Check.
func (l *Callee) Last(status byte) []byte {
	return append([]byte{status}, l.Session.proof(l.protocol, "listener")...)
}

// Answer runs the listener's side over the stream of an attempt, up to Check. The last message must follow.
func (v *Attempt) Answer(protocol string, find func(dialler, listener uint32) (Pair, error)) (*Callee, error) {
	var hello [HelloSize]byte
	if _, err := io.ReadFull(v.Conn, hello[:]); err != nil {
		return nil, err
	}
	l, err := Hear(hello[:], protocol, find)
	if err != nil {
		_, _ = v.Conn.Write(Refusal())
		return nil, err
	}
	v.Favour()
	if _, err := v.Conn.Write(l.Reply()); err != nil {
		return nil, err
	}
	var proof [ProofSize]byte
	if _, err := io.ReadFull(v.Conn, proof[:]); err != nil {
		return nil, err
	}
	return l, l.Check(proof[:])
}
