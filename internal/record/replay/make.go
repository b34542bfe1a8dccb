package replay

import (
	"fmt"
	"slices"

	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
	"weft/internal/mem"
	"weft/internal/record"
)

// Bounds of what a recording can make the player do, whatever it says.
const (
	mostBytes  = 1 << 32 // of a buffer, and of all regions together
	mostRanks  = 1 << 24
	mostMTU    = 1 << 20
	mostPhases = 1 << 16
)

// buffer returns n bytes, the same for all operations: what is in them decides nothing.
func (p *player) buffer(n int) ([]byte, error) {
	if n < 0 || n > mostBytes {
		return nil, fmt.Errorf("%w: %d bytes", record.ErrDamaged, n)
	}
	if n > len(p.scratch) {
		p.scratch = make([]byte, n)
	}
	return p.scratch[:n:n], nil
}

// region returns n bytes that stay as they are until they are withdrawn.
func (p *player) region(n int) ([]byte, error) {
	if n < 0 || n > mostBytes-p.kept {
		return nil, fmt.Errorf("%w: regions of %d and %d bytes", record.ErrDamaged, p.kept, n)
	}
	p.kept += n
	return mem.Aligned(n), nil
}

// make applies what makes a port, an object or a region, and a Put. What failed in the recorded run fails again.
func (p *player) make(in *record.Input) error {
	rm := p.Engine.RMA
	switch {
	case in.Do == "open" && in.Open != nil:
		if q, err := p.Engine.Msg.Open(uint16(in.N), *in.Open); err == nil {
			p.ports = append(p.ports, q)
		}
	case in.Do == "object" && in.Object != nil && in.Object.Window <= mostPhases:
		o, err := p.Engine.Coord.Open(in.Now, *in.Object)
		if err == nil && !slices.Contains(p.objects, o) {
			p.objects = append(p.objects, o)
		}
	case in.Do == "expose":
		bytes, err := p.region(in.N)
		if err != nil {
			return err
		}
		p.keep(rm.Expose(in.Name, bytes, in.Region, in.OK, in.Random, in.Ranks))
	case in.Do == "mailbox" && in.Box != nil:
		bytes, err := p.region(in.N)
		if err != nil {
			return err
		}
		box, err := mailbox.New(bytes, *in.Box)
		if err != nil {
			return record.ErrDamaged
		}
		p.keep(rm.ExposeMailbox(in.Name, box, bytes, in.Region, in.OK))
	case in.Do == "put" && in.RMA != nil && in.N <= wire.MaxPut:
		a := in.RMA
		b, err := p.buffer(in.N)
		if err != nil {
			return err
		}
		_ = rm.Put(&rma.Op{
			Peer: in.Rank, Region: in.Region, Key: a.Key, Off: a.Off, Buf: b, Code: wire.Code(a.Code),
			Lock: a.Lock, Epoch: a.Epoch,
		})
	default:
		return record.ErrDamaged
	}
	return nil
}

// keep keeps a region for the inputs about it.
func (p *player) keep(r *rma.Region, err error) {
	if err == nil {
		p.regions[r.ID] = r
	}
}
