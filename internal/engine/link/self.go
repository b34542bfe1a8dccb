package link

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"

	"weft/internal/counters"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// Why packets are refused.
var (
	ErrForeign = errors.New("weft: packet of another job, for another rank, or over a path that its sender does not take")
	ErrTag     = errors.New("weft: packet with a wrong authentication tag")
	ErrReplay  = errors.New("weft: packet seen before")
	ErrStale   = errors.New("weft: packet of another incarnation")
)

// Self is what the links of this process share: its identity, and the peers that send to it
// at present.
type Self struct {
	job         uint64
	rank        uint32
	incarnation uint64
	root        []byte // of all keys
	keyBits     uint8  // keyBits; fewer in tests
	agreement   Agreement

	scratch scratch
	plain   []byte                                   // the packet that was decrypted last
	sealed  []byte                                   // packets that Output has encrypted
	control [4][wire.LinkSize + wire.SelectSize]byte // control packets that it has returned

	since monotime.Time // the transports have not been polled since
	crowd crowd

	sending int           // links with frames that wait for room in the window
	counts  counters.Peer // of links that have been given no other
}

// NewSelf returns the identity of a process. The incarnation is random, and
// not 0: no two processes that know the same secret may have the same.
func NewSelf(job uint64, rank uint32, incarnation uint64, secret []byte) *Self {
	root, err := hkdf.Extract(sha256.New, secret, nil)
	if err != nil {
		panic(err) // only where SHA-256 is not to be had
	}
	return &Self{job: job, rank: rank, incarnation: max(incarnation, 1), root: root, keyBits: keyBits,
		since: monotime.Never}
}

// Since says that packets which links are handed from now on may have come at any time
// after t, when their transports were looked at last; Never, and until then, that they come
// at the moment at which they are handed over.
func (s *Self) Since(t monotime.Time) { s.since = t }

// from is the direction of the packets that a peer sends to this process.
func (s *Self) from(peer uint32, incarnation uint64) direction {
	return direction{s.job, peer, s.rank, incarnation, s.incarnation}
}

// to is the direction of the packets that this process sends to a peer.
func (s *Self) to(peer uint32, incarnation uint64) direction {
	return direction{s.job, s.rank, peer, s.incarnation, incarnation}
}

// Prove reports whether a packet, which Check has found good, was made by a process
// of the job for this one, and which incarnation that is: for a peer to which there
// is no link yet. Guard is what the packet has.
func (s *Self) Prove(pkt []byte) (incarnation uint64, g Guard, err error) {
	var f wire.Link
	if _, err = f.Parse(pkt); err != nil {
		return 0, 0, err
	}
	sender := s.receiver(f.Src, f.Incarnation)
	sender.silence(true)
	if _, ok := sender.open(&f, pkt); !ok {
		return 0, 0, ErrTag
	}
	return f.Incarnation, guardOf(&f), nil
}

// Check makes the checks of a packet that need no link, and returns the rank
// that it says it comes from.
func (s *Self) Check(pkt []byte) (src uint32, err error) {
	var f wire.Link
	if _, err = f.Parse(pkt); err != nil {
		return 0, err
	}
	if f.Job != s.job || f.Dst != s.rank || f.Src == s.rank {
		return 0, ErrForeign
	}
	return f.Src, nil
}
