package wire

// MaxName is the longest name of a region in bytes.
const MaxName = 255

// MaxPut is the largest payload of a PUT in bytes. A PUT is never cut: it fits every packet.
const MaxPut = 128

// Attach asks for the region whose name is the payload. (PROTOCOL §4)
type Attach struct {
	Op uint32
}

func (f *Attach) fields(c *codec) *codec { return c.zero(3).u32(&f.Op) }

// Append appends the frame's head to b.
func (f Attach) Append(b []byte) []byte { return f.fields(write(b, TypeAttach)).b }

// ParseAttach parses an ATTACH frame. The payload is part of b.
func ParseAttach(b []byte) (f Attach, payload []byte, err error) {
	payload, err = f.fields(read(b, TypeAttach)).payload(1, MaxName)
	return f, payload, err
}

// Attached describes a region. (PROTOCOL §4)
type Attached struct {
	ReadOnly        bool
	Status          Status
	Op, Region, Mem uint32
	Key, Size       uint64
}

func (f *Attached) fields(c *codec) *codec {
	c.flag(&f.ReadOnly).status(&f.Status).u32(&f.Op, &f.Region, &f.Mem)
	return c.u64(&f.Key, &f.Size)
}

// Append appends the frame to b.
func (f Attached) Append(b []byte) []byte { return f.fields(write(b, TypeAttached)).b }

// ParseAttached parses an ATTACHED frame.
func ParseAttached(b []byte) (f Attached, err error) {
	err = f.fields(read(b, TypeAttached)).end()
	return f, err
}

// Push is one packet of a write, or of an update of each word by Code. Limit is the offset at which the whole write
// ends, so that one that leaves the region is refused before it has begun. (PROTOCOL §4)
type Push struct {
	End             bool
	Code            Code
	Op, Region      uint32
	Key, Off, Limit uint64
}

// Append appends the frame's head to b.
func (f Push) Append(b []byte) []byte {
	b, h := head(b, PushSize, TypePush, f.End)
	h[2] = byte(f.Code)
	order.PutUint32(h[4:], f.Op)
	order.PutUint32(h[8:], f.Region)
	order.PutUint64(h[16:], f.Key)
	order.PutUint64(h[24:], f.Off)
	order.PutUint64(h[32:], f.Limit)
	return b
}

// ParsePush parses a PUSH frame.
func ParsePush(b []byte) (f Push, payload []byte, err error) {
	f.End, err = parse(b, PushSize, TypePush)
	if err != nil {
		return f, nil, err
	}
	f.Code = Code(b[2])
	if !f.Code.ofMany() || b[3] != 0 || u32(b, 12) != 0 {
		return f, nil, ErrField
	}
	f.Op = u32(b, 4)
	f.Region = u32(b, 8)
	f.Key = u64(b, 16)
	f.Off = u64(b, 24)
	f.Limit = u64(b, 32)
	return f, b[PushSize:], nil
}

// Put writes up to MaxPut bytes, which are its payload, or updates words by Code, without an answer. (PROTOCOL §4)
type Put struct {
	Code     Code
	Region   uint32
	Key, Off uint64
}

func (f *Put) fields(c *codec) *codec {
	return c.u8((*uint8)(&f.Code)).zero(2).u32(&f.Region).u64(&f.Key, &f.Off)
}

// Append appends the frame's head to b.
func (f Put) Append(b []byte) []byte { return f.fields(write(b, TypePut)).b }

// ParsePut parses a PUT frame. The payload is part of b.
func ParsePut(b []byte) (f Put, payload []byte, err error) {
	c := f.fields(read(b, TypePut))
	payload, err = c.check(f.Code.ofMany()).payload(1, MaxPut)
	return f, payload, err
}

// Flush asks for an answer after everything before it has been done. (PROTOCOL §4)
type Flush struct {
	Op uint32
}

func (f *Flush) fields(c *codec) *codec { return c.zero(3).u32(&f.Op) }

// Append appends the frame to b.
func (f Flush) Append(b []byte) []byte { return f.fields(write(b, TypeFlush)).b }

// ParseFlush parses a FLUSH frame.
func ParseFlush(b []byte) (f Flush, err error) {
	err = f.fields(read(b, TypeFlush)).end()
	return f, err
}

// Pull asks for N bytes of a region. (PROTOCOL §4)
type Pull struct {
	Op, Region  uint32
	Key, Off, N uint64
}

func (f *Pull) fields(c *codec) *codec {
	c.zero(3).u32(&f.Op, &f.Region).zero(4)
	return c.u64(&f.Key, &f.Off, &f.N)
}

// Append appends the frame to b.
func (f Pull) Append(b []byte) []byte { return f.fields(write(b, TypePull)).b }

// ParsePull parses a PULL frame.
func ParsePull(b []byte) (f Pull, err error) {
	err = f.fields(read(b, TypePull)).end()
	return f, err
}

// Pulled is one packet of the answer to a Pull; Off counts from its start. (PROTOCOL §4)
type Pulled struct {
	End bool
	Op  uint32
	Off uint64
}

// Append appends the frame's head to b.
func (f Pulled) Append(b []byte) []byte {
	b, h := head(b, PulledSize, TypePulled, f.End)
	order.PutUint32(h[4:], f.Op)
	order.PutUint64(h[8:], f.Off)
	return b
}

// ParsePulled parses a PULLED frame.
func ParsePulled(b []byte) (f Pulled, payload []byte, err error) {
	f.End, err = parse(b, PulledSize, TypePulled)
	if err != nil {
		return f, nil, err
	}
	if u16(b, 2) != 0 {
		return f, nil, ErrField
	}
	f.Op = u32(b, 4)
	f.Off = u64(b, 8)
	return f, b[PulledSize:], nil
}

// Atomic updates the word at Off by Code with A; CodeCompareSwap writes B if it was A. (PROTOCOL §4)
type Atomic struct {
	Code           Code
	Op, Region     uint32
	Key, Off, A, B uint64
}

func (f *Atomic) fields(c *codec) *codec {
	c.u8((*uint8)(&f.Code)).zero(2).u32(&f.Op, &f.Region).zero(4)
	return c.u64(&f.Key, &f.Off, &f.A, &f.B)
}

// Append appends the frame to b.
func (f Atomic) Append(b []byte) []byte { return f.fields(write(b, TypeAtomic)).b }

// ParseAtomic parses an ATOMIC frame.
func ParseAtomic(b []byte) (f Atomic, err error) {
	c := f.fields(read(b, TypeAtomic))
	err = c.check(f.Code < codeEnd).end()
	return f, err
}

// Result answers a request. (PROTOCOL §4)
type Result struct {
	Status Status
	Op     uint32
	Value  uint64
}

func (f *Result) fields(c *codec) *codec {
	return c.zero(1).status(&f.Status).u32(&f.Op).u64(&f.Value)
}

// Append appends the frame to b.
func (f Result) Append(b []byte) []byte { return f.fields(write(b, TypeResult)).b }

// ParseResult parses a RESULT frame.
func ParseResult(b []byte) (f Result, err error) {
	err = f.fields(read(b, TypeResult)).end()
	return f, err
}

// Guard says under which epoch of a lock the sender accesses regions that the lock guards, from here on.
// (PROTOCOL §9.6)
type Guard struct {
	Lock, Epoch uint64
}

func (f *Guard) fields(c *codec) *codec { return c.zero(7).u64(&f.Lock, &f.Epoch) }

// Append appends the frame to b.
func (f Guard) Append(b []byte) []byte { return f.fields(write(b, TypeGuard)).b }

// ParseGuard parses a GUARD frame.
func ParseGuard(b []byte) (f Guard, err error) {
	err = f.fields(read(b, TypeGuard)).end()
	return f, err
}
