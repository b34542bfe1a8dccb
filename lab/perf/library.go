package perf

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

// Libraries are the user-level libraries that [Konishi97] compares, built on weft. Ways are the same, preceded by
// weft's own messages and PUSH.
var (
	Libraries = []string{"am", "fm", "vmmc", "pm"}
	Ways      = append([]string{"send", "push"}, Libraries...)
)

// library is one of Ways as a System: it runs its own operation whatever the others run.
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

// An adapter sends and receives messages up to a length between rank 0 and rank 1 with one library. A message that
// is written into memory ends with a word that announces it, which is not 0.
type adapter interface {
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

// adapter returns the adapter for b.spec.Op. With those that write to memory, window messages can be under way.
func (b *bench) adapter(largest, window int) (adapter, error) {
	switch b.spec.Op {
	case "send":
		return newPortAdapter(b, largest), nil
	case "push":
		return newPushAdapter(b, largest, window)
	case "am":
		return newAMAdapter(b, largest)
	case "fm":
		return newFMAdapter(b, largest)
	case "vmmc":
		return newVMMCAdapter(b, largest, window)
	case "pm":
		return newPMAdapter(b, largest)
	}
	return nil, fmt.Errorf("perf: there is no library %q", b.spec.Op)
}

// oneSided reports whether the receiver does not take part in what a library sends.
func oneSided(op string) bool { return op == "push" || op == "vmmc" }

// ofLibraries reports whether a measurement uses an adapter.
func (s Spec) ofLibraries() bool {
	return s.Test == "logp" || slices.Contains(Libraries, s.Op) && (s.Test == "latency" || s.Test == "bandwidth")
}

// library measures all sizes with one adapter.
func (b *bench) library() error {
	window := 1
	if b.spec.Test == "logp" {
		window = logpWindow
	}
	c, err := b.adapter(slices.Max(b.spec.Sizes), window)
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

// slots are places in memory for messages, each with its announcing word at the end; the adapters of PUSH and VMMC
// share them.
type slots struct {
	window, size int
	sent, taken  uint64
}

// at returns the offset of a message, by its number, and of its last word. A message shorter than s.size lies
// directly before the word.
func (s *slots) at(k uint64, n int) (off, word int) {
	word = int(k%uint64(s.window))*s.size + s.size - 8
	return word + 8 - n, word
}

// room is the size of all slots.
func (s *slots) room() int { return s.window * s.size }

// stamp writes a message's last word, and returns what lies before the word: if that is nothing, one write sends
// all.
func (s *slots) stamp(b []byte) (head, word []byte) {
	s.sent++
	cut := max(len(b)-8, 0) / 8 * 8
	head = b[:cut]
	word = b[cut:]
	binary.LittleEndian.PutUint64(word, s.sent)
	return head, word
}
