package eth

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"weft/internal/sys"
)

// An xdp is the AF_XDP device: an XDP program takes our frames off the driver's
// queue before the kernel makes packets of them. What it misses, because it came
// by another queue, arrives by the packet socket.
type xdp struct {
	*sys.XSK
	packets *sys.PacketSocket
	program *ebpf.Program
	sockets *ebpf.Map
	link    link.Link
	mode    string
}

// queue is the receive queue that our frames come by: devices spread only IP over the others.
const queue = 0

// openXDP puts a program on the interface, which the kernel removes when this
// process ends, however it ends. It prefers the driver's own mode.
func openXDP(ifc *net.Interface, packets *sys.PacketSocket, etherType uint16, job uint64, rank int) (*xdp, error) {
	d := &xdp{packets: packets}
	if err := d.open(ifc, etherType, job, rank); err != nil {
		d.closeXDP()
		if errors.Is(err, os.ErrPermission) {
			err = fmt.Errorf("needs CAP_NET_ADMIN and CAP_BPF (setcap cap_net_raw,cap_net_admin,cap_bpf+ep PROGRAM): %w", err)
		}
		return nil, err
	}
	return d, nil
}

// open attaches a program to the interface that gives the frames of this rank to an AF_XDP socket, in the driver if
// it can, and else in the kernel's generic hook. After a failure the caller closes what has been opened (closeXDP).
func (d *xdp) open(ifc *net.Interface, etherType uint16, job uint64, rank int) (err error) {
	d.sockets, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.XSKMap, KeySize: 4, ValueSize: 4, MaxEntries: queue + 1})
	if err != nil {
		return fmt.Errorf("XSKMAP: %w", err)
	}
	d.program, err = ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.XDP, License: "Apache-2.0", Instructions: redirect(d.sockets.FD(), etherType, job, rank),
	})
	if err != nil {
		return fmt.Errorf("XDP program: %w", err)
	}
	for _, mode := range []struct {
		name  string
		flags link.XDPAttachFlags
	}{{"native", link.XDPDriverMode}, {"generic", link.XDPGenericMode}} {
		d.mode = mode.name
		d.link, err = link.AttachXDP(link.XDPOptions{Program: d.program, Interface: ifc.Index, Flags: mode.flags})
		if err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("XDP on %s: %w", ifc.Name, err)
	}
	if d.XSK, err = sys.OpenXSK(ifc.Index, queue); err != nil {
		return fmt.Errorf("AF_XDP: %w", err)
	}
	return d.sockets.Put(uint32(queue), uint32(d.XSK.FD()))
}

// redirect is the program: frames of our EtherType, with a VLAN tag or without,
// for this rank of this job go to the socket, everything else goes on.
func redirect(sockets int, etherType uint16, job uint64, rank int) asm.Instructions {
	// Numbers as they lie in the frame, read in this machine's order.
	be16 := func(v uint16) int32 {
		return int32(binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v)))
	}
	be32 := func(v uint32) int64 {
		return int64(binary.NativeEndian.Uint32(binary.BigEndian.AppendUint32(nil, v)))
	}
	const (
		pass = 2 // XDP_PASS
		vlan = 0x8100
		tag  = 4 // bytes of a VLAN tag
	)
	in := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R2, asm.R6, 0, asm.Word), // data
		asm.LoadMem(asm.R3, asm.R6, 4, asm.Word), // data_end
		asm.Mov.Reg(asm.R4, asm.R2),
		asm.Add.Imm(asm.R4, sys.PacketHead+headSize),
		asm.JGT.Reg(asm.R4, asm.R3, "pass"),
		asm.LoadMem(asm.R5, asm.R2, 12, asm.Half),
		asm.JEq.Imm(asm.R5, be16(etherType), "ours"),
		asm.JNE.Imm(asm.R5, be16(vlan), "pass"),
		asm.Add.Imm(asm.R4, tag),
		asm.JGT.Reg(asm.R4, asm.R3, "pass"),
		asm.Add.Imm(asm.R2, tag),
		asm.LoadMem(asm.R5, asm.R2, 12, asm.Half),
		asm.JNE.Imm(asm.R5, be16(etherType), "pass"),
	}
	for i, word := range []uint32{uint32(job >> 32), uint32(job), uint32(rank)} {
		load := asm.LoadMem(asm.R5, asm.R2, int16(sys.PacketHead+4*i), asm.Word)
		if i == 0 {
			load = load.WithSymbol("ours")
		}
		in = append(in, load, asm.LoadImm(asm.R0, be32(word), asm.DWord), asm.JNE.Reg(asm.R5, asm.R0, "pass"))
	}
	return append(in,
		asm.LoadMapPtr(asm.R1, sockets),
		asm.LoadMem(asm.R2, asm.R6, 16, asm.Word), // rx_queue_index
		asm.Mov.Imm(asm.R3, pass),                 // where there is no socket
		asm.FnRedirectMap.Call(),
		asm.Return(),
		asm.Mov.Imm(asm.R0, pass).WithSymbol("pass"),
		asm.Return(),
	)
}

// String says how frames come and go.
func (d *xdp) String() string {
	if d.ZeroCopy() {
		return "AF_XDP, " + d.mode + ", zero copy"
	}
	return "AF_XDP, " + d.mode + ", copies"
}

func (d *xdp) FDs() []int { return []int{d.XSK.FD(), d.packets.FD()} }

func (d *xdp) Pending() bool { return d.XSK.Pending() || d.packets.Pending() }

// Recv returns the next frame, or nil. Frames that the program has not redirected, such as those of other queues,
// come by the packet socket.
func (d *xdp) Recv() []byte {
	if f := d.XSK.Recv(); f != nil {
		return f
	}
	return d.packets.Recv()
}

func (d *xdp) Release() {
	d.XSK.Release()
	d.packets.Release()
}

func (d *xdp) Counts() sys.SocketCounts {
	c := d.XSK.Counts()
	c.Add(d.packets.Counts())
	return c
}

func (d *xdp) MemoryBytes() int { return d.XSK.MemoryBytes() + d.packets.MemoryBytes() }

func (d *xdp) Close() {
	d.closeXDP()
	d.packets.Close()
}

// closeXDP detaches the program first, so that no frame goes to a socket that is closed.
func (d *xdp) closeXDP() {
	if d.link != nil {
		d.link.Close()
	}
	if d.XSK != nil {
		d.XSK.Close()
	}
	if d.program != nil {
		d.program.Close()
	}
	if d.sockets != nil {
		d.sockets.Close()
	}
}
