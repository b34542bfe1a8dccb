package wire

// HeadSize returns the length of the head of a frame by its first byte, so
// that what follows is its payload; 0 if the type is unknown.
func HeadSize(t Type) int {
	switch t {
	case TypeData:
		return DataSize
	case TypePiece:
		return PieceSize
	case TypeRevoke:
		return RevokeSize
	case TypeAttach:
		return AttachSize
	case TypePush:
		return PushSize
	case TypePut:
		return PutSize
	case TypeIPush:
		return IPushSize
	case TypePulled:
		return PulledSize
	default:
		return 0
	}
}
