package transport

// Counts are of what befalls packets at this host, which a lossy transport need not report in
// any other way.
type Counts struct {
	Batches   uint64 // system calls that sent several packets as one, for the kernel to cut
	Uncut     uint64 // of those, the ones that the kernel refused, so that their packets went singly
	Joined    uint64 // datagrams that the kernel had joined of several packets
	Overflows uint64 // datagrams and frames that came when the receive buffer was full
	Truncated uint64 // datagrams and frames that came cut off, as they were longer than any should be
	Refused   uint64 // packets that the kernel would not send, such as for a firewall: lost
	Switched  uint64 // times that batches to a peer were switched off, since they did not arrive
}

// Add adds the counts of another transport.
func (c *Counts) Add(o Counts) {
	c.Batches += o.Batches
	c.Uncut += o.Uncut
	c.Joined += o.Joined
	c.Overflows += o.Overflows
	c.Truncated += o.Truncated
	c.Refused += o.Refused
	c.Switched += o.Switched
}

// Steady is embedded by transports whose path to a peer never changes: packets keep one
// maximum length, there is nothing to tell of the path, and nothing is counted.
type Steady struct{}

// Resized returns nothing.
func (Steady) Resized() []int { return nil }

// Path returns nothing.
func (Steady) Path(peer int) string { return "" }

// Counts returns zeros.
func (Steady) Counts() Counts { return Counts{} }
