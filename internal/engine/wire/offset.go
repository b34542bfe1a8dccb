package wire

// Offset returns the offset field of the frame whose head is given, and
// SetOffset sets it. They serve the frames that may be cut into several
// packets: DATA, PIECE, PUSH, PULLED and IPUSH (PROTOCOL §3, §4, §10).
func Offset(head []byte) uint64 {
	switch Type(head[0]) {
	case TypeData:
		return uint64(u32(head, 16))
	case TypePush, TypeIPush:
		return u64(head, 24)
	default:
		return u64(head, 8)
	}
}

// SetOffset sets the offset field, and in frames that have an End flag that
// flag, which marks the last packet.
func SetOffset(head []byte, off uint64, last bool) {
	switch Type(head[0]) {
	case TypeData:
		order.PutUint32(head[16:], uint32(off))
		return
	case TypePush, TypeIPush:
		order.PutUint64(head[24:], off)
	default:
		order.PutUint64(head[8:], off)
	}
	head[1] = 0
	if last {
		head[1] = 1
	}
}

// Grain returns of what number of bytes the pieces must be multiples into which a frame is cut: those of a PUSH that
// updates words are words.
func Grain(head []byte) int {
	if Type(head[0]) == TypePush && Code(head[2]).combines() {
		return 8
	}
	return 1
}

// ID returns the operation number or token of a frame that has one in bytes 4
// to 7, as all frames that may be cut do.
func ID(head []byte) uint32 {
	if len(head) < 8 {
		return 0
	}
	return u32(head, 4)
}
