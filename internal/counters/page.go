package counters

import "weft/internal/mem"

// A Page is what one rank counts. The rank's node calls its methods under its lock, and
// writes through the pointers that they return.
type Page struct {
	Node *Node

	peers  []*Peer // by rank; nil: the peer has no block
	blocks []*Peer // those that have one
	free   []Peer
	more   func() []byte // returns memory for more blocks, or nil
	shared Peer          // of all that have none
}

// Identity says whose page it is.
type Identity struct {
	Rank, Size int
	PID        int
	Started    int64  // Unix time in ns
	Job        string // what all ranks of the job have in common, and no others
	Host       string
	Program    string
}

// New returns a page that nobody else can read. All peers share one block.
func New() *Page { return &Page{Node: new(Node)} }

// Over returns a page in memory that others can read: NodeSize zeroed bytes. More returns
// zeroed memory for blocks of peers, which follows on what it returned before, or nil if there
// is no more; then peers share a block that nobody can read.
func Over(memory []byte, id Identity, more func() []byte) *Page {
	n := mem.At[Node](memory, 0)
	n.rank = uint32(id.Rank)
	n.size = uint32(id.Size)
	n.pid = uint64(id.PID)
	n.started = id.Started
	put(n.job[:], id.Job)
	put(n.host[:], id.Host)
	put(n.program[:], id.Program)
	n.version = Version
	n.magic = magic
	return &Page{Node: n, peers: make([]*Peer, id.Size), more: more}
}

// Peer returns the block of a rank. It is made when it is first asked for.
func (p *Page) Peer(rank int) *Peer {
	if uint(rank) < uint(len(p.peers)) {
		if b := p.peers[rank]; b != nil {
			return b
		}
	}
	return p.add(rank)
}

// add makes a block for a rank, if there is room.
func (p *Page) add(rank int) *Peer {
	if uint(rank) >= uint(len(p.peers)) {
		return &p.shared
	}
	if len(p.free) == 0 && p.more != nil {
		if memory := p.more(); memory != nil {
			p.free = mem.View[Peer](memory, len(memory)/PeerSize)
		} else {
			p.more = nil
		}
	}
	if len(p.free) == 0 {
		p.peers[rank] = &p.shared
		return &p.shared
	}
	b := &p.free[0]
	p.free = p.free[1:]
	p.peers[rank] = b
	p.blocks = append(p.blocks, b)
	b.tag = uint64(rank) + 1
	return b
}

// Sum returns what has been sent to all peers, and received from them, and how often packets have been made shorter.
func (p *Page) Sum() (sent, received Flow, shortened uint64) {
	sent = p.shared.Sent
	received = p.shared.Received
	shortened = p.shared.Shortened
	for _, b := range p.blocks {
		sent.Add(&b.Sent)
		received.Add(&b.Received)
		shortened += b.Shortened
	}
	return sent, received, shortened
}

// Name sets the name of a transport, by its place.
func (t *Transport) Name(name string) { put(t.name[:], name) }
