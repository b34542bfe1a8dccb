package main

import (
	"encoding/binary"
	"errors"
	"fmt"

	"weft"
	"weft/pm"
)

// A program sends numbered messages of all lengths to all nodes, faster than it receives: its buffers are full most of
// the time. It does one step at a time, and does not know when it has its turn.
type program struct {
	number   int
	x        *pm.Context
	steps    int
	next     []uint64 // by node: the number of the next message to it
	expected []uint64 // and of the next one from it
	sent     int64
	received int64
	ending   bool // it sends no more
}

func newProgram(number int, x *pm.Context) *program {
	return &program{number: number, x: x, next: make([]uint64, x.Nodes()), expected: make([]uint64, x.Nodes())}
}

// way returns how many more messages this node has sent than it has received: over all nodes, those on their way.
func (p *program) way() int64 { return p.sent - p.received }

// owes returns 1 if the program has not been told to end.
func (p *program) owes() int64 {
	if p.ending {
		return 0
	}
	return 1
}

const head = 24 // program, sender, number

func (p *program) step() error {
	p.steps++
	if p.ending || p.steps%3 == 0 {
		return p.receive()
	}
	return p.send(p.steps % p.x.Nodes())
}

func (p *program) send(node int) error {
	i := p.next[node]
	size := head + int(i*2654435761%6000)
	b, err := p.x.GetSendBuffer(node, size)
	if errors.Is(err, weft.ErrWouldBlock) {
		return p.receive()
	}
	if err != nil {
		return err
	}
	p.write(b, p.x.Self(), i)
	p.next[node]++
	p.sent++
	return p.x.Send()
}

// write fills a message: its sender, its number, and bytes that follow from these.
func (p *program) write(b []byte, sender int, i uint64) {
	binary.LittleEndian.PutUint64(b, uint64(p.number))
	binary.LittleEndian.PutUint64(b[8:], uint64(sender))
	binary.LittleEndian.PutUint64(b[16:], i)
	for j := head; j < len(b); j++ {
		b[j] = byte(uint64(j)*7 + i + uint64(p.number))
	}
}

func (p *program) receive() error {
	b, from, err := p.x.Receive()
	if errors.Is(err, weft.ErrWouldBlock) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := p.check(b, from); err != nil {
		return err
	}
	p.expected[from]++
	p.received++
	return p.x.ReleaseReceiveBuffer()
}

func (p *program) check(b []byte, from int) error {
	if len(b) < head {
		return fmt.Errorf("a message of %d bytes from node %d", len(b), from)
	}
	number := binary.LittleEndian.Uint64(b)
	i := binary.LittleEndian.Uint64(b[16:])
	if number != uint64(p.number) || i != p.expected[from] {
		return fmt.Errorf("message %d of program %d from node %d, where message %d is due", i, number, from, p.expected[from])
	}
	for j := head; j < len(b); j++ {
		if b[j] != byte(uint64(j)*7+i+number) {
			return fmt.Errorf("message %d from node %d: byte %d is wrong", i, from, j)
		}
	}
	return nil
}
