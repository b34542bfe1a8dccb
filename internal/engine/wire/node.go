package wire

import "slices"

// Bye says that its sender leaves the job: in good order, or because its program has failed. The payload says why it
// has failed, in words. (PROTOCOL §5)
type Bye struct {
	Failed bool
}

func (f *Bye) fields(c *codec) *codec { return c.flag(&f.Failed).zero(2) }

// Append appends the frame's head to b.
func (f Bye) Append(b []byte) []byte { return f.fields(write(b, TypeBye)).b }

// ParseBye parses a BYE frame. The payload is part of b.
func ParseBye(b []byte) (f Bye, payload []byte, err error) {
	c := f.fields(read(b, TypeBye))
	most := 0
	if f.Failed {
		most = MaxReason
	}
	payload, err = c.payload(0, most)
	return f, payload, err
}

// Done says that its sender's program has ended: only its regions are still there, and what it has sent and the
// receiver has not accepted. (PROTOCOL §5)
type Done struct {
	More   bool // there is something of that: messages on the channels that the payload names, or what follows
	Writes bool // with More: a PUSH, IPUSH or ATOMIC
	On     bool // with More: messages on further channels, which the next Done names
	Less   bool // with More: the payload names channels on which nothing comes any more
}

// MaxOpen is how many channels a Done names at most, and with On exactly.
const MaxOpen = 16

func (f *Done) fields(c *codec) *codec { return c.flag(&f.More, &f.Writes, &f.On, &f.Less).zero(2) }

// Append appends the frame's head to b.
func (f Done) Append(b []byte) []byte { return f.fields(write(b, TypeDone)).b }

// AppendChannels appends the payload of a Done. The channels ascend.
func AppendChannels(b []byte, channels []uint16) []byte {
	for _, c := range channels {
		b = order.AppendUint16(b, c)
	}
	return b
}

// Channels returns the channels of a Done's payload.
func Channels(payload []byte) (channels []uint16) {
	for at := 0; at+2 <= len(payload); at += 2 {
		channels = append(channels, u16(payload, at))
	}
	return channels
}

// ParseDone parses a DONE frame. The payload is part of b.
func ParseDone(b []byte) (f Done, payload []byte, err error) {
	c := f.fields(read(b, TypeDone))
	least := 0
	most := 0
	if f.More {
		most = 2 * MaxOpen
	}
	if f.On {
		least = most
	}
	c = c.check(f.More || f == Done{}).check(!f.On || !f.Less).check(len(c.b)%2 == 0)
	payload, err = c.check(slices.IsSorted(Channels(c.b))).payload(least, most)
	return f, payload, err
}

// Beat is a sign of life over a transport that does not tell when a peer is stopped. (PROTOCOL §5)
type Beat struct {
	Ask bool // for one in return
}

func (f *Beat) fields(c *codec) *codec { return c.flag(&f.Ask).zero(2) }

// Append appends the frame to b.
func (f Beat) Append(b []byte) []byte { return f.fields(write(b, TypeBeat)).b }

// ParseBeat parses a BEAT frame.
func ParseBeat(b []byte) (f Beat, err error) {
	err = f.fields(read(b, TypeBeat)).end()
	return f, err
}
