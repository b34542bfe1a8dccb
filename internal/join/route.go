package join

import (
	"cmp"
	"fmt"

	"weft/internal/driver"
	"weft/internal/engine/link"
)

// A Route is how a rank is reached, and why so.
type Route struct {
	Host, Why string
	Guard     Guard
}

const (
	whyShm = "same host, so shared memory"
	whyTCP = "-transport tcp was asked for"
)

// self names the transport of a rank to itself.
const self = "self"

// Reaches returns the name of the transport to a peer that this process is connected to, and how it is reached.
func (m *Member) Reaches(peer *driver.Peer) (transport string, r Route) {
	if peer.Rank == m.Job.Rank {
		return self, Route{Host: m.Job.Host, Why: "it is this process"}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.routes[peer.Rank]
	if !ok { // it has dialled us, and only ranks on the same host do so
		r = Route{Host: m.Job.Host, Why: whyShm}
	}
	return peer.Transport.Caps().Name, r
}

// Note takes note of how a rank is reached.
func (m *Member) Note(rank int, r Route) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.routes[rank] = r
}

// route chooses the transport to a rank: the first in the order of Transports that reaches it.
func (m *Member) route(rank int) (driver.Route, error) {
	c, err := m.peerCard(rank)
	if err != nil {
		return driver.Route{}, err
	}
	for _, t := range m.Transports {
		name := t.Caps().Name
		card, why := m.reaches(name, c)
		if card == "" {
			continue
		}
		g := m.guardFor(name, c)
		if lossy := name == udpName || name == ethName; lossy && g.Guard == link.Encrypted && len(c.Share) == 0 {
			return driver.Route{}, fmt.Errorf("weft: packets to rank %d must be encrypted (%s), and its card has no share: "+
				"all ranks must be of one version of weft", rank, g.Why)
		}
		m.Note(rank, Route{c.Host, why, g})
		return driver.Route{Transport: t, Card: card, Incarnation: c.Life, Guard: g.Guard, Share: c.Share}, nil
	}
	return driver.Route{}, fmt.Errorf("weft: no transport reaches rank %d on host %s from host %s with -transport %s%s",
		rank, c.Host, m.Job.Host, m.Settings.Transport, c.NoShm)
}

// reaches returns by what card a transport reaches the rank of c, and why it is used; no card if it does not reach it.
func (m *Member) reaches(transport string, c Card) (card, why string) {
	here := c.Host == m.Job.Host
	switch transport {
	case shmName:
		if here {
			return c.Shm, whyShm
		}
	case ethName:
		if !here && c.Eth != "" && (m.Settings.Transport == ethName || m.eth.OnSegment(c.Eth)) {
			return c.Eth, fmt.Sprintf("another host, and raw Ethernet on %s (%s)", m.Settings.Interface, m.eth.Device())
		}
	case fabricName:
		if m.Settings.Transport == fabricName || !here && sameProvider(m.card.Fabric, c.Fabric) {
			return c.Fabric, m.whyFabric(c)
		}
	case tcpName:
		return c.Tcp, whyTCP
	case udpName:
		return c.Udp, m.whyUDP(c)
	}
	return "", ""
}

func (m *Member) whyUDP(c Card) string {
	switch {
	case m.Settings.Transport == udpName:
		return "-transport udp was asked for"
	case c.Host != m.Job.Host:
		return "another host, so UDP; " + m.whyNotFabric(c) + m.whyNotEth(c)
	default:
		return "shared memory is not available: " + c.NoShm
	}
}

// whyNotEth says why raw Ethernet is not used.
func (m *Member) whyNotEth(c Card) string {
	switch {
	case m.Settings.Interface == "":
		return "no interface for raw Ethernet is given (" + EnvInterface + ")"
	case m.noEth != "":
		return m.noEth
	case c.Eth == "":
		return "it has no raw Ethernet"
	case m.eth != nil && !m.eth.OnSegment(c.Eth):
		return "it is in another subnet, which raw Ethernet does not reach"
	default:
		return "raw Ethernet was not asked for"
	}
}

// peerCard returns the card of a rank whose packets are to be guarded as this rank's are. It waits until the rank has
// published it, or this process leaves.
func (m *Member) peerCard(rank int) (Card, error) {
	c, err := m.CardOf(m.Open, rank)
	if err == nil && c.Guard != m.Settings.Guard {
		err = fmt.Errorf("weft: rank %d is configured with guard %s, and this rank with %s (Config.Guard, %s): all ranks "+
			"must be configured alike",
			rank, cmp.Or(c.Guard, "none"), cmp.Or(m.Settings.Guard, "none"), EnvGuard)
	}
	return c, err
}
