package sys

// piece is how many bytes of another process's memory are copied at a time, in about 100 us. Shorter pieces are slower
// by a tenth.
const piece = 1 << 20

// InPieces copies into dst piece by piece, each by a call of copy with where in dst the piece begins, and the piece.
// Between two pieces a thread that waits for this processor runs: it may be one of this process that has a short
// message to receive, and the kernel would let it wait for milliseconds.
func InPieces(dst []byte, copy func(at int, dst []byte) error) error {
	for at := 0; ; at += piece {
		end := min(at+piece, len(dst))
		if err := copy(at, dst[at:end]); err != nil || end == len(dst) {
			return err
		}
		Yield()
	}
}
