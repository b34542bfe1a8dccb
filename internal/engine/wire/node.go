package wire

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

// Done says that its sender's program has ended and that everything that it had sent to the receiver has been accepted:
// only its regions are still there. (PROTOCOL §5)
type Done struct{}

func (f *Done) fields(c *codec) *codec { return c.zero(3) }

// Append appends the frame to b.
func (f Done) Append(b []byte) []byte { return f.fields(write(b, TypeDone)).b }

// ParseDone parses a DONE frame.
func ParseDone(b []byte) (f Done, err error) {
	err = f.fields(read(b, TypeDone)).end()
	return f, err
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
