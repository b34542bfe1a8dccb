package perf

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

// Libraries are the user-level libraries that paper 003 compares, on weft; and Ways the same with weft's own messages
// and PUSH.
var (
	Libraries = []string{"am", "fm", "vmmc", "pm"}
	Ways      = append([]string{"send", "push"}, Libraries...)
)

// library is one of them, as a System that runs its own way whatever the others do.
type library struct{ op string }

func (l library) Name() string   { return l.op }
func (l library) Absent() string { return "" }

func (l library) Supports(s Spec) bool {
	return (s.Test == "latency" || s.Test == "bandwidth" || s.Test == "logp") && s.Pattern == ""
}

func (l library) Run(ctx context.Context, s Spec) ([]Sample, error) {
	s.Op = l.op
	return runRanks(ctx, "weft", 2, s)
}

// A courier carries messages of up to a length between rank 0 and rank 1 as one library does it. A message that is
// written into memory ends with a word that says so, which is not 0.
type courier interface {
	// send sends a message, and returns when its bytes may be used again.
	send(b []byte) error
	// recv takes the next message, and waits for it.
	recv() error
	// ready takes the next message if it has come.
	ready() (bool, error)
	// flush returns when all that was sent is at the other rank, where that needs nobody's help.
	flush() error
	close() error
}

// courier returns the courier of a way of b.spec.Op. Of those that write to memory, so many messages can be under way.
func (b *bench) courier(largest, window int) (courier, error) {
	switch b.spec.Op {
	case "send":
		return newPortCourier(b, largest), nil
	case "push":
		return newPushCourier(b, largest, window)
	case "am":
		return newAMCourier(b, largest)
	case "fm":
		return newFMCourier(b, largest)
	case "vmmc":
		return newVMMCCourier(b, largest, window)
	case "pm":
		return newPMCourier(b, largest)
	}
	return nil, fmt.Errorf("perf: there is no library %q", b.spec.Op)
}

// oneSided reports whether nobody receives what a way sends.
func oneSided(op string) bool { return op == "push" || op == "vmmc" }

// ofLibraries reports whether a measurement is one of couriers.
func (s Spec) ofLibraries() bool {
	return s.Test == "logp" || slices.Contains(Libraries, s.Op) && (s.Test == "latency" || s.Test == "bandwidth")
}

// library measures all sizes with one courier.
func (b *bench) library() error {
	window := 1
	if b.spec.Test == "logp" {
		window = logpWindow
	}
	c, err := b.courier(slices.Max(b.spec.Sizes), window)
	if err != nil {
		return err
	}
	for _, size := range b.spec.Sizes {
		src, err := b.buffer(size)
		if err != nil {
			return err
		}
		if err := b.meet(); err != nil {
			return err
		}
		switch {
		case b.spec.Test == "logp":
			err = b.logp(c, src)
		case b.spec.Test == "latency":
			err = b.pingPong(size, func() error { return c.send(src) }, c.recv)
		case oneSided(b.spec.Op):
			err = b.streamOneSided(c, src)
		default:
			err = b.streamTaken(c, src)
		}
		if err != nil {
			return fmt.Errorf("%s %s %d: %w", b.spec.Test, b.spec.Op, size, err)
		}
	}
	if err := b.meet(); err != nil {
		return err
	}
	return c.close()
}

// slots are places in memory for messages, each with the word that tells of it at its end: what the couriers of PUSH and
// VMMC have in common.
type slots struct {
	window, size int
	sent, taken  uint64
}

// at returns where a message lies, by its number, and where its last word does. Messages of other lengths than s.size lie
// before the word.
func (s *slots) at(k uint64, n int) (off, word int) {
	word = int(k%uint64(s.window))*s.size + s.size - 8
	return word + 8 - n, word
}

// room is for all slots.
func (s *slots) room() int { return s.window * s.size }

// stamp writes a message's last word, and returns what lies before it: all goes in one write if that is nothing.
func (s *slots) stamp(b []byte) (head, word []byte) {
	s.sent++
	cut := max(len(b)-8, 0) / 8 * 8
	head = b[:cut]
	word = b[cut:]
	binary.LittleEndian.PutUint64(word, s.sent)
	return head, word
}
