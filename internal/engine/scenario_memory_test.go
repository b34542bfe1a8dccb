package engine

import (
	"strconv"

	"weft/internal/engine/coord"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mem"
)

// codes are the updates of words that scenarios name.
var codes = map[string]wire.Code{
	"add": wire.CodeAdd, "swap": wire.CodeSwap, "cas": wire.CodeCompareSwap, "xor": wire.CodeXor,
	"fadd": wire.CodeAddFloat,
}

// memory runs a command on regions.
func (s *scenario) memory(rank int) {
	e := s.engines[rank]
	to := s.number("to", 1)
	f := s.found[[2]int{s.number("as", rank), to}]
	op := &rma.Op{Peer: to, Region: f.Region, Key: f.Key, Off: uint64(s.number("off", 0)), A: uint64(s.number("a", 0)),
		B: uint64(s.number("b", 0))}
	var key string
	if s.d.MaybeScanArgs(s.t, "key", &key); key == "wrong" {
		op.Key++
	}
	if epoch := s.number("epoch", 0); epoch != 0 {
		op.Lock = coord.LockID("L")
		op.Epoch = uint64(epoch)
	}
	var code string
	if s.d.MaybeScanArgs(s.t, "code", &code) {
		op.Code = codes[code]
	}
	bytes := make([]byte, s.number("size", 8))
	for i := range bytes {
		bytes[i] = byte(s.number("fill", 0))
	}
	switch s.d.Cmd {
	case "expose":
		s.regions[rank] = mem.Aligned(len(bytes))
		guard := uint64(0)
		if s.d.HasArg("guard") {
			guard = coord.LockID("L")
		}
		if _, err := e.RMA.Expose(s.name(), s.regions[rank], 0, s.d.HasArg("readonly"), guard, s.only()); err != nil {
			s.say("%v", err)
		}
		return
	case "show":
		s.say("% x", s.regions[rank][op.Off:][:len(bytes)])
		return
	case "put":
		op.Buf = bytes
		if err := e.RMA.Put(op); err != nil {
			s.say("%v", err)
		}
		return
	case "attach":
		op.Kind = rma.Attach
		op.Name = s.name()
	case "push":
		op.Kind = rma.Push
		op.Buf = bytes
	case "pull":
		op.Kind = rma.Pull
		op.Buf = bytes
	case "fence":
		op.Kind = rma.Flush
	case "add", "swap", "cas":
		op.Kind = rma.Atomic
		op.Code = codes[s.d.Cmd]
	default:
		s.t.Fatalf("%s: unknown command %q", s.d.Pos, s.d.Cmd)
	}
	if e.RMA.Start(op); op.Done {
		s.done(rank, op)
	}
}

// only returns the ranks that a region is for, or nil.
func (s *scenario) only() (ranks []int) {
	for _, arg := range s.d.CmdArgs {
		if arg.Key == "only" {
			for _, v := range arg.Vals {
				n, _ := strconv.Atoi(v)
				ranks = append(ranks, n)
			}
		}
	}
	return ranks
}

func (s *scenario) name() (name string) {
	s.d.ScanArgs(s.t, "name", &name)
	return name
}

func (s *scenario) done(rank int, op *rma.Op) {
	switch {
	case op.Err != nil:
		s.say("  rank %d: %v: %v", rank, op, op.Err)
	case op.Kind == rma.Attach:
		s.found[[2]int{rank, op.Peer}] = op.Found
		s.say("  rank %d has attached a region of %d bytes", rank, op.Found.Size)
	case op.Kind == rma.Pull && len(op.Buf) > 100:
		s.say("  rank %d has pulled %d bytes", rank, len(op.Buf))
	case op.Kind == rma.Pull:
		s.say("  rank %d has pulled % x", rank, op.Buf)
	case op.Kind == rma.Atomic:
		s.say("  rank %d: the %v saw %d", rank, op, op.Value)
	default:
		s.say("  rank %d: the %v is done", rank, op)
	}
}
