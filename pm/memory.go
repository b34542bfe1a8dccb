package pm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"weft"
)

// MaxLocked is how many pieces of memory a context can have locked at the same time.
const MaxLocked = 1024

// A Handle stands for the locked memory of a node, from an offset on. Programs send handles to each
// other in messages; see AppendBinary. Two handles are equal (==) if they stand for the same memory
// and offset.
type Handle struct {
	Node   int // the node that has locked the memory
	Offset int // bytes from the beginning of the memory

	part uint8  // the part of the node's context
	slot uint16 // the place in the part's table
	life uint64 // differs for all pieces of memory that the context has ever locked
}

// Add returns the handle of the memory n bytes further on.
func (h Handle) Add(n int) Handle {
	h.Offset += n
	return h
}

// HandleSize is the length in bytes of what AppendBinary appends.
const HandleSize = 24

// AppendBinary appends the handle, in HandleSize bytes.
func (h Handle) AppendBinary(b []byte) ([]byte, error) {
	b = binary.LittleEndian.AppendUint32(b, uint32(h.Node))
	b = binary.LittleEndian.AppendUint16(b, uint16(h.part))
	b = binary.LittleEndian.AppendUint16(b, h.slot)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Offset))
	return binary.LittleEndian.AppendUint64(b, h.life), nil
}

// MarshalBinary returns what AppendBinary appends.
func (h Handle) MarshalBinary() ([]byte, error) { return h.AppendBinary(make([]byte, 0, HandleSize)) }

// UnmarshalBinary reads what AppendBinary has appended. It does not check whether the handle stands
// for locked memory: Write and Read do.
func (h *Handle) UnmarshalBinary(b []byte) error {
	if len(b) != HandleSize {
		return fmt.Errorf("%w: %d bytes, a handle has %d", ErrHandle, len(b), HandleSize)
	}
	*h = Handle{
		Node: int(int32(binary.LittleEndian.Uint32(b))), part: uint8(binary.LittleEndian.Uint16(b[4:])),
		slot:   binary.LittleEndian.Uint16(b[6:]),
		Offset: int(binary.LittleEndian.Uint64(b[8:])), life: binary.LittleEndian.Uint64(b[16:]),
	}
	return nil
}

// A memory is the memory that one part of a context has locked, and the memory of other nodes that
// it has attached to.
type memory struct {
	proc    *weft.Proc
	channel int
	index   *weft.Region // for each slot the life of its memory, or 0 if it has none
	areas   [MaxLocked]*weft.Region
	life    uint64

	indexes map[int]*weft.Remote    // the indexes of other nodes
	reached map[Handle]*weft.Remote // by the handle with offset 0
}

// newMemory opens the index of a part, which other nodes read.
func newMemory(ctx context.Context, p *weft.Proc, channel int) (*memory, error) {
	m := &memory{proc: p, channel: channel, life: uint64(p.Now()), indexes: map[int]*weft.Remote{},
		reached: map[Handle]*weft.Remote{}}
	var err error
	m.index, err = p.OpenRegion(ctx, m.indexName(), MaxLocked*8, &weft.RegionConfig{ReadOnly: true})
	return m, err
}

func (m *memory) indexName() string { return fmt.Sprintf("pm/%d", m.channel) }

func (m *memory) areaName(life uint64) string { return fmt.Sprintf("pm/%d/%x", m.channel, life) }

func (m *memory) close() error {
	var errs []error
	for _, r := range m.areas {
		if r != nil {
			errs = append(errs, r.Close())
		}
	}
	return errors.Join(append(errs, m.index.Close())...)
}

// MLock returns n bytes of zeroed memory that nodes can write to and read from, and its handle
// (pmMLock). The original locks memory that exists; weft must make it, so that processes of this
// host can map it.
//
// node is the node for which the memory is locked, or Any. In a composite context it selects the
// part by which the memory is reached, so Any needs parts of one weft.Proc. At most MaxLocked
// pieces can be locked. The bytes are valid until MUnlock.
func (x *Context) MLock(ctx context.Context, node, n int) ([]byte, Handle, error) {
	l := x.parts[0]
	if node != Any {
		var err error
		if l, err = x.to(node); err != nil {
			return nil, Handle{}, err
		}
	}
	for _, o := range x.parts {
		if node == Any && o.proc != l.proc {
			return nil, Handle{}, fmt.Errorf("pm: memory for any node, in a context of several Procs: %w", errors.ErrUnsupported)
		}
	}
	slot, r, err := l.memory.lock(ctx, n)
	if err != nil {
		return nil, Handle{}, err
	}
	return r.Bytes(), Handle{Node: x.Self(), part: uint8(l.number), slot: uint16(slot), life: l.memory.life}, nil
}

// lock makes memory in a free slot.
func (m *memory) lock(ctx context.Context, n int) (slot int, r *weft.Region, err error) {
	for slot < MaxLocked && m.areas[slot] != nil {
		slot++
	}
	if slot == MaxLocked {
		return 0, nil, &SpaceError{MaxLocked}
	}
	m.life++
	r, err = m.proc.OpenRegion(ctx, m.areaName(m.life), n, nil)
	if err != nil {
		return 0, nil, err
	}
	m.areas[slot] = r
	m.index.Store(8*slot, m.life)
	return slot, r, nil
}

// MUnlock unlocks memory of this node (pmMUnlock). Writes and reads of other nodes that are under
// way fail, or have no effect. The bytes that MLock has returned must not be used any more.
func (x *Context) MUnlock(h Handle) error {
	r, err := x.area(h)
	if err != nil {
		return err
	}
	m := x.parts[h.part].memory
	m.index.Store(8*int(h.slot), 0)
	m.areas[h.slot] = nil
	return r.Close()
}

// area returns the memory of this node for which a handle stands.
func (x *Context) area(h Handle) (*weft.Region, error) {
	if h.Node != x.Self() {
		return nil, &HandleError{h, fmt.Sprintf("it is memory of another node than this one, which is %d", x.Self())}
	}
	if int(h.part) >= len(x.parts) || h.slot >= MaxLocked {
		return nil, &HandleError{h, "it does not come from a context of this kind"}
	}
	m := x.parts[h.part].memory
	if r := m.areas[h.slot]; r != nil && m.index.Load(8*int(h.slot)) == h.life {
		return r, nil
	}
	return nil, &HandleError{h, "the memory is not locked"}
}

// remote returns the memory of another node for which a handle stands.
func (x *Context) remote(ctx context.Context, h Handle) (*weft.Remote, error) {
	if _, err := x.to(h.Node); err != nil {
		return nil, err
	}
	if int(h.part) >= len(x.parts) || h.slot >= MaxLocked {
		return nil, &HandleError{h, "it is of no context like this one"}
	}
	m := x.parts[h.part].memory
	h.Offset = 0
	if r := m.reached[h]; r != nil {
		return r, nil
	}
	return m.reach(ctx, h)
}

// reach attaches to memory of another node. It first reads the node's index: to attach to memory
// that is not locked would wait for ever.
func (m *memory) reach(ctx context.Context, h Handle) (r *weft.Remote, err error) {
	index := m.indexes[h.Node]
	if index == nil {
		if index, err = m.proc.AttachRegion(ctx, h.Node, m.indexName()); err != nil {
			return nil, err
		}
		m.indexes[h.Node] = index
	}
	var word [8]byte
	if err = index.Pull(ctx, word[:], 8*int(h.slot)); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint64(word[:]) != h.life || h.life == 0 {
		return nil, &HandleError{h, "the memory is not locked"}
	}
	if r, err = m.proc.AttachRegion(ctx, h.Node, m.areaName(h.life)); err != nil {
		return nil, err
	}
	m.reached[h] = r
	return r, nil
}
