package perf

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// framesPossible reports whether this system has packet sockets.
const framesPossible = true

// The EtherTypes of requests and answers: those that IEEE 802 leaves to experiments. On the loopback interface each end
// hears its own frames, so they differ.
const (
	typeRequest = 0x88b5
	typeAnswer  = 0x88b6
)

const frameHead = 14 // bytes of an Ethernet header

// openFrames returns a path of frames on the interface that has the address host, and the interface's own address.
func openFrames(host string, asks bool) (p barePath, address string, err error) {
	ifc, err := interfaceOf(host)
	if err != nil {
		return p, "", err
	}
	sends := uint16(typeRequest)
	receives := uint16(typeAnswer)
	if !asks {
		sends, receives = receives, sends
	}
	socket, err := packetSocket(ifc, receives)
	if err != nil {
		return p, "", err
	}
	mac := ifc.HardwareAddr
	if len(mac) != 6 {
		mac = make(net.HardwareAddr, 6) // the loopback interface has none
	}
	var head [frameHead]byte
	out := make([]byte, frameHead+mostEcho)
	in := make([]byte, frameHead+mostEcho)
	return barePath{
		dial: func(peer string) error {
			to, err := net.ParseMAC(peer)
			copy(head[:], to)
			copy(head[6:], mac)
			head[12] = byte(sends >> 8)
			head[13] = byte(sends)
			return err
		},
		send: func(b []byte) error {
			_, err := socket.Write(append(append(out[:0], head[:]...), b...))
			return err
		},
		receive: func(b []byte) (int, error) {
			n, err := socket.Read(in)
			return copy(b, in[min(n, frameHead):n]), err
		},
		wait:  socket.SetReadDeadline,
		close: func() { socket.Close() },
	}, mac.String(), nil
}

// interfaceOf returns the interface that has an address.
func interfaceOf(host string) (*net.Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	for i := range all {
		addresses, err := all[i].Addrs()
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(net.ParseIP(host)) {
				return &all[i], nil
			}
		}
	}
	return nil, fmt.Errorf("no interface has the address %s", host)
}

// packetSocket opens a socket that receives frames of an EtherType, and sends frames of any. Its file waits in Go's
// netpoller, as the sockets of package net do.
func packetSocket(ifc *net.Interface, etherType uint16) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	f := os.NewFile(uintptr(fd), "frames on "+ifc.Name)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 4<<20) // so fewer frames are lost
	at := &unix.SockaddrLinklayer{Protocol: etherType<<8 | etherType>>8, Ifindex: ifc.Index}
	if err := unix.Bind(fd, at); err != nil {
		f.Close()
		return nil, os.NewSyscallError("bind", err)
	}
	return f, nil
}
