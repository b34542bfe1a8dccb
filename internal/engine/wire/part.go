package wire

// PartSize is the length of what follows the link header in a PART, before its bytes.
const PartSize = 8

// A Part is some bytes of a frame that is too long for the path to its receiver.
// (PROTOCOL §2.6)
type Part struct {
	Off, Total uint16 // of the frame: where the bytes belong, and how many there are in all
}

func (p *Part) fields(c *codec) *codec { return c.zero(1).u16(&p.Off).u16(&p.Total).zero(2) }

// Append appends the part's fields to b. The zeros in front are no frame's type.
func (p Part) Append(b []byte) []byte { return p.fields(write(b, 0)).b }

// ParsePart parses a part, and returns the bytes with it.
func ParsePart(b []byte) (p Part, bytes []byte, err error) {
	c := p.fields(read(b, 0))
	bytes, err = c.payload(0, int(p.Total)-int(p.Off))
	return p, bytes, err
}
