package match

import "context"

// Delivery and mailbox stand in for what package weft will have.
type Delivery struct {
	From     int
	Tag      uint64
	Data     []byte
	released func()
}

func (d *Delivery) Release() {
	if d.released != nil {
		d.released()
		d.released = nil
	}
}

type mailbox interface {
	Next(ctx context.Context) (Delivery, error)
	TryNext() (Delivery, bool)
}
