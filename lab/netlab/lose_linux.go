package netlab

import (
	"fmt"
	"io"
	"net"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"weft/internal/sys"
)

// A Trouble lists the faults of frames that enter a host.
type Trouble struct {
	Lose     float64 // share of all frames that are lost
	Repeat   float64 // share of all frames that arrive twice
	Overtake float64 // share of all frames that arrive after a later one

	// Batches loses every frame that holds several packets, which the kernel segments later. Frames with one packet
	// arrive.
	Batches bool

	// Longest loses IP packets of more bytes without telling their sender, as a path MTU black hole does. 0 loses none.
	Longest int
}

// Lose makes the network lose a share of all frames, for as long as the lab exists.
func (l *Lab) Lose(share float64) error {
	_, err := l.Trouble(Trouble{Lose: share})
	return err
}

// Trouble makes the network faulty until end is called or the lab is removed. It attaches a classifier where frames
// enter each host, since the kernel would tell the sender of a frame that is dropped on its way out.
func (l *Lab) Trouble(t Trouble) (end func() error, err error) {
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, License: "Apache-2.0",
		Instructions: t.program()})
	if err != nil {
		return nil, fmt.Errorf("weft: lab: classifier: %w", err)
	}
	var made closers
	made = append(made, program)
	for _, h := range l.Hosts {
		err := sys.InNetwork(h.Namespace, func() error {
			ifc, err := net.InterfaceByName(Interface)
			if err != nil {
				return err
			}
			at, err := link.AttachTCX(link.TCXOptions{Interface: ifc.Index, Program: program, Attach: ebpf.AttachTCXIngress})
			if err == nil {
				made = append(made, at)
			}
			return err
		})
		if err != nil {
			made.Close()
			return nil, fmt.Errorf("weft: lab: classifier: %w", err)
		}
	}
	l.held = append(l.held, &made)
	return made.Close, nil
}

// closers are closed together. To close them again does nothing.
type closers []io.Closer

func (c *closers) Close() (err error) {
	for _, one := range *c {
		if bad := one.Close(); err == nil {
			err = bad
		}
	}
	*c = nil
	return err
}

// Offsets of fields of struct __sk_buff, the context of a classifier.
const (
	skbLen      = 0
	skbMark     = 8
	skbProtocol = 16 // EtherType, in network order
	skbIfindex  = 40
	skbSegs     = 164 // number of packets in the frame
	skbSize     = 176 // bytes of payload in each of these packets
)

// Results of a classifier.
const (
	tcxNext = -1
	tcxDrop = 2
)

// mark is the mark of frames that the classifier has put back at the end of the queue: they pass it the second time.
const mark = 0x77656674

// program returns the classifier. R6 points to the frame.
func (t Trouble) program() (p asm.Instructions) {
	add := func(i ...asm.Instruction) { p = append(p, i...) }
	add(asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R2, asm.R6, skbMark, asm.Word),
		asm.JEq.Imm(asm.R2, mark, "marked"))
	if t.Batches {
		add(asm.LoadMem(asm.R2, asm.R6, skbSegs, asm.Word),
			asm.JGT.Imm(asm.R2, 1, "drop"))
	}
	if t.Longest > 0 {
		add(t.longer()...)
	}
	add(draw(t.Lose, "drop")...)
	add(draw(t.Repeat, "repeat")...)
	add(draw(t.Overtake, "overtake")...)
	add(asm.Mov.Imm(asm.R0, tcxNext), asm.Return())
	add(asm.Mov.Imm(asm.R0, tcxDrop).WithSymbol("drop"), asm.Return())

	// To repeat a frame, a marked copy goes to the end of the queue. To overtake it, the marked frame itself does.
	add(setMark(mark)...)
	p[len(p)-2] = p[len(p)-2].WithSymbol("repeat")
	add(asm.Mov.Reg(asm.R1, asm.R6), asm.LoadMem(asm.R2, asm.R6, skbIfindex, asm.Word), asm.Mov.Imm(asm.R3, 1),
		asm.FnCloneRedirect.Call())
	add(setMark(0)...)
	add(asm.Mov.Imm(asm.R0, tcxNext), asm.Return())

	add(setMark(mark)...)
	p[len(p)-2] = p[len(p)-2].WithSymbol("overtake")
	add(asm.LoadMem(asm.R1, asm.R6, skbIfindex, asm.Word), asm.Mov.Imm(asm.R2, 1), asm.FnRedirect.Call(), asm.Return())

	add(setMark(0)...)
	p[len(p)-2] = p[len(p)-2].WithSymbol("marked")
	add(asm.Mov.Imm(asm.R0, tcxNext), asm.Return())
	return p
}

// longer jumps to "drop" if an IP packet of the frame is longer than t.Longest: the frame itself, or the packets that
// the kernel will cut it into, each with a header of UDP and of its family.
func (t Trouble) longer() asm.Instructions {
	const (
		ethernet    = 14
		ipv4Headers = 20 + 8
		moreOfIPv6  = 20
		ipv6        = 0xdd86 // EtherType in network order, as a little-endian machine reads it
	)
	return asm.Instructions{
		asm.LoadMem(asm.R2, asm.R6, skbSize, asm.Word),
		asm.JEq.Imm(asm.R2, 0, "whole"),
		asm.Add.Imm(asm.R2, ipv4Headers),
		asm.LoadMem(asm.R3, asm.R6, skbProtocol, asm.Word),
		asm.JNE.Imm(asm.R3, ipv6, "compare"),
		asm.Add.Imm(asm.R2, moreOfIPv6),
		asm.Ja.Label("compare"),
		asm.LoadMem(asm.R2, asm.R6, skbLen, asm.Word).WithSymbol("whole"),
		asm.Sub.Imm(asm.R2, ethernet),
		asm.JGT.Imm(asm.R2, int32(t.Longest), "drop").WithSymbol("compare"),
	}
}

// draw jumps to a label with probability p.
func draw(p float64, label string) asm.Instructions {
	return asm.Instructions{
		asm.FnGetPrandomU32.Call(),
		asm.LoadImm(asm.R1, int64(p*(1<<32)), asm.DWord),
		asm.JLT.Reg(asm.R0, asm.R1, label),
	}
}

func setMark(m int32) asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R2, m), asm.StoreMem(asm.R6, skbMark, asm.R2, asm.Word)}
}
