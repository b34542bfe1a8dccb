package link

import "weft/internal/engine/wire"

// An attacker that learns the job's secret later must not be able to read what it has recorded of encrypted packets. So
// each process draws a pair of X25519 keys, and its card carries the public half, its share. Frames are encrypted under
// a root that follows from the secret and from what two shares agree on. Packets without a frame stay under the job's
// keys: by them a process recognizes another that it has no card of. Of these GREET carries a share: it goes before the
// first frame, so that its receiver can read that. (PROTOCOL §2.2)
//
//	event                                       what happens
//	a link is connected, and its path is        the root is computed from the share in the peer's card; GREET is due
//	encrypted
//	GREET                                       the root is computed from the share in it, unless there is one
//	a timeout, and nothing has ever been heard  GREET is due again
//
// A peer that has answered has the root: it had the card, or a GREET.

// An Agreement is this process's part in agreements with its peers.
type Agreement struct {
	Share []byte // wire.ShareSize bytes

	// Root returns the root of the keys that this process has in common with the owner of a share; nil if there
	// can be none.
	Root func(share []byte) []byte
}

// Agrees sets what this process needs to agree on keys with its peers. Without it, a process greets, and has the keys
// of the job alone.
func (s *Self) Agrees(a Agreement) {
	if s.agreement = a; a.Share == nil {
		s.agreement.Share = make([]byte, wire.ShareSize)
	}
}

// Agree takes the share of the peer from its card. The guard is set.
func (c *Conn) Agree(share []byte) {
	if len(share) != wire.ShareSize || c.auth.guard != Encrypted || c.auth.greets {
		return
	}
	c.auth.greets = true
	c.auth.agree(share)
	c.greet()
}

// greet makes a GREET due as long as the peer may not know this process's share.
func (c *Conn) greet() {
	if c.auth.greets && !c.Heard() {
		c.due[wire.KindGreet] = true
	}
}

// agree computes the root of both directions, once.
func (p *protection) agree(share []byte) {
	if p.out.root != nil || p.out.self.agreement.Root == nil {
		return
	}
	root := p.out.self.agreement.Root(share)
	p.out.root = root
	p.in.root = root
}
