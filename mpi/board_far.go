package mpi

import (
	"encoding/binary"
	"errors"
	"time"

	"weft"
	"weft/extend"
	"weft/internal/mem"
)

// Many elements are copied once only: they stay in the memory of their members, which say on the board where that is,
// and the others read them there: through a mapping if it is memory of Alloc, else by the kernel. Such an operation has
// one turn for all elements, and at its end another one, in which members say that they have read: a member that has
// shown elements waits for that.
//
// A member whose operation fails notes that on the board before the program can change its elements: what is read and
// then found to be of such a member does not count.

// errEnding says that the elements of a member cannot be read, because it has ended or its operation has failed. The
// operation goes on waiting for this member, until it hears why.
var errEnding = errors.New("mpi: a member that others read from is ending")

// noTurn is a turn that no member comes to.
const noTurn = 1<<64 - 1

// farFits reports whether members can read the elements of an operation where they are.
func farFits(k *call) bool {
	return k.how != byMessages && k.c.board != nil && k.c.board.far && !k.varied && k.src.each == nil
}

// offer shows the other members memory to try whether they can read it. It stands in a slot that no turn has used.
func (s *board) offer() {
	s.proof = mem.Aligned(8)
	binary.LittleEndian.PutUint64(s.proof, ^uint64(s.c.me))
	s.point(0, s.proof)
}

// readable reports whether this member can read the memory that the others have shown.
func (s *board) readable() bool {
	b := mem.Aligned(8)
	for i := range s.c.group.n {
		if i == s.c.me {
			continue
		}
		clear(b)
		err := extend.ReadPlace(s.c.w.p, s.placeOf(i, 0), s.c.group.at(i), 0, b)
		if err != nil || binary.LittleEndian.Uint64(b) != ^uint64(i) {
			return false
		}
	}
	return true
}

// point says in this member's slot where its elements are.
func (s *board) point(turn uint64, elements []byte) {
	var at extend.Place
	for i := range s.c.group.n {
		if i == s.c.me {
			continue
		}
		if at = extend.PlaceOf(s.c.w.p, elements, s.c.group.at(i)); at.Memory == 0 {
			break // ordinary memory, which is the same place for all
		}
	}
	slot := s.slot(s.c.me, turn)[atElements:]
	binary.LittleEndian.PutUint32(slot, at.Process)
	binary.LittleEndian.PutUint32(slot[4:], at.Memory)
	binary.LittleEndian.PutUint64(slot[8:], at.Address)
	binary.LittleEndian.PutUint64(slot[16:], at.Offset)
}

// show says in this member's slot that its elements stay where they are, and where that is.
func (s *board) show(elements []byte) {
	s.slot(s.c.me, s.turn)[atPlace+1] |= shownOnBoard >> 8
	s.point(s.turn, elements)
}

// shows reports whether a member has said so in this turn.
func (s *board) shows(member int) bool {
	return s.slot(member, s.turn)[atPlace+1]&(shownOnBoard>>8) != 0
}

// placeOf returns where a member says that its elements are.
func (s *board) placeOf(member int, turn uint64) extend.Place {
	slot := s.slot(member, turn)[atElements:]
	return extend.Place{
		Process: binary.LittleEndian.Uint32(slot), Memory: binary.LittleEndian.Uint32(slot[4:]),
		Address: binary.LittleEndian.Uint64(slot[8:]), Offset: binary.LittleEndian.Uint64(slot[16:]),
	}
}

// farRoundTrip is more than a word takes to a processor with which this one shares a cache and back, and less than it
// takes to another one: 130 and 570 ns were measured.
const farRoundTrip = 400 * time.Nanosecond

// near reports whether this member shares a cache with its neighbour, as far as that can be seen. Elements that are
// copied to the board and from there take half as long as straight from the memory of a member if their processors
// share a cache, since both work; and up to three times as long if they do not, since each line of the board changes
// hands twice. What the system says about caches is not asked: in a virtual machine it is often wrong.
func (s *board) near() bool {
	other := s.c.me ^ 1
	if other >= s.c.group.n {
		return true
	}
	word := func(member int) []byte { return s.slot(member, 0)[atElements+24:] }
	return s.bell.RoundTrip(word(s.c.me), word(other), s.c.me < other) < farRoundTrip
}

// leave begins the turn at whose end the elements of this member have been read.
func (s *board) leave(k *call) {
	s.again(k)
	s.tell(k)
	k.phase = leaving
	k.first = 0
	k.last = 0
	if k.writes > 0 {
		k.last = k.c.group.n
	}
}

// withdraw says that this member's elements may change.
func (s *board) withdraw() { mem.Store64(s.memory, atFailed+8*s.c.me, 1) }

// fetch copies into dst what a member has at an offset in its elements. Of elements that are on the board these are the
// ones of this turn.
func (k *call) fetch(dst []byte, member, at int) error {
	if !k.far {
		b, _ := k.on(member)
		mem.Move(dst, b[at:])
		return nil
	}
	return k.fetchFrom(k.c.board.placeOf(member, k.c.board.turn), dst, member, at)
}

// fetchFrom copies into dst what a member has at an offset from a place.
func (k *call) fetchFrom(from extend.Place, dst []byte, member, at int) error {
	if len(dst) == 0 {
		return nil
	}
	return k.still(member, extend.ReadPlace(k.c.w.p, from, k.c.group.at(member), at, dst))
}

// still returns how it ended to read the elements of a member, which must not have changed meanwhile.
func (k *call) still(member int, err error) error {
	s := k.c.board
	if mem.Load64(s.memory, atFailed+8*member) != 0 || errors.Is(err, weft.ErrPeer) {
		s.queue.awaits = awaited{member, noTurn}
		return errEnding
	}
	return err
}

// pieceOfFar is how many bytes are combined at a time: they are still in the cache when they have been read.
const pieceOfFar = 64 << 10

// combinedFar is combined for elements that stay where they are.
func (k *call) combinedFar(dst, mine []byte, at, members int) error {
	size := max(int(k.head.size), 1)
	piece := max(pieceOfFar/size, 1) * size
	theirs := k.room(min(piece, len(dst)))
	sum := k.room(min(piece, len(dst)))
	for from := 0; from < len(dst); from += piece {
		to := min(from+piece, len(dst))
		if err := k.combinePiece(dst[from:to], mine[from:to], sum[:to-from], theirs[:to-from], at+from, members); err != nil {
			return err
		}
	}
	return nil
}

// combinePiece combines a piece of the elements, in the order of the members. Dst may be mine.
func (k *call) combinePiece(dst, mine, sum, theirs []byte, at, members int) error {
	if k.c.me == 0 {
		if &dst[0] != &mine[0] {
			copy(dst, mine)
		}
		sum = dst
	} else if err := k.fetch(sum, 0, at); err != nil {
		return err
	}
	for i := 1; i < members; i++ {
		if i == k.c.me {
			k.combine.apply(sum, mine)
		} else if err := k.combineOf(sum, theirs, i, at); err != nil {
			return err
		}
	}
	if k.c.me != 0 {
		copy(dst, sum)
	}
	return nil
}

// combineOf combines into sum what a member has at an offset: where it is, if it is mapped here, or copied to theirs.
func (k *call) combineOf(sum, theirs []byte, member, at int) error {
	place := k.c.board.placeOf(member, k.c.board.turn)
	if mapped := extend.MapPlace(k.c.w.p, place, k.c.group.at(member), at, len(sum)); mapped != nil {
		k.combine.apply(sum, mapped)
		return k.still(member, nil)
	}
	if err := k.fetchFrom(place, theirs, member, at); err != nil {
		return err
	}
	k.combine.apply(sum, theirs)
	return nil
}
