package link

import (
	"errors"

	"weft/internal/engine/wire"
)

// Why packets are refused.
var (
	ErrForeign = errors.New("weft: packet of another job or for another rank")
	ErrTag     = errors.New("weft: packet with a wrong authentication tag")
	ErrReplay  = errors.New("weft: packet seen before")
	ErrStale   = errors.New("weft: packet of another incarnation")
)

// Self is the identity of this process, which its links share.
type Self struct {
	job         uint64
	rank        uint32
	incarnation uint32
	secret      []byte
}

// NewSelf returns the identity of a process. The incarnation is random, and
// not 0.
func NewSelf(job uint64, rank, incarnation uint32, secret []byte) *Self {
	return &Self{job, rank, max(incarnation, 1), secret}
}

// Check makes the checks of a packet that need no link, and returns the rank
// that it says it comes from.
func (s *Self) Check(pkt []byte) (src uint32, err error) {
	f, _, err := wire.ParseLink(pkt)
	if err != nil {
		return 0, err
	}
	if f.Job != s.job || f.Dst != s.rank || f.Src == s.rank {
		return 0, ErrForeign
	}
	return f.Src, nil
}
