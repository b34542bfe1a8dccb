package lab

import (
	"fmt"
	"io"
	"net"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"weft/internal/sys"
)

// Lose makes the network lose a share of all frames, by a classifier where they
// enter each host: where they leave it their sender would be told. It ends with
// the lab. What AF_XDP takes off the driver's queue is not lost.
func (l *Lab) Lose(share float64) error {
	const next, shot = -1, 2 // TCX_NEXT, TCX_DROP
	threshold := int64(share * (1 << 32))
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.SchedCLS, License: "Apache-2.0",
		Instructions: asm.Instructions{
			asm.FnGetPrandomU32.Call(),
			asm.LoadImm(asm.R1, threshold, asm.DWord),
			asm.JLT.Reg(asm.R0, asm.R1, "lose"),
			asm.Mov.Imm(asm.R0, next),
			asm.Return(),
			asm.Mov.Imm(asm.R0, shot).WithSymbol("lose"),
			asm.Return(),
		},
	})
	if err != nil {
		return fmt.Errorf("weft: lab: classifier: %w", err)
	}
	l.hold(program)
	for _, h := range l.Hosts {
		err := sys.InNetwork(h.Namespace, func() error {
			ifc, err := net.InterfaceByName(Interface)
			if err != nil {
				return err
			}
			at, err := link.AttachTCX(link.TCXOptions{Interface: ifc.Index, Program: program, Attach: ebpf.AttachTCXIngress})
			if err == nil {
				l.hold(at)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("weft: lab: classifier: %w", err)
		}
	}
	return nil
}

// hold keeps something until the lab is removed.
func (l *Lab) hold(c io.Closer) { l.held = append(l.held, c) }
