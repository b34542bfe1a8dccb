package weft

import (
	"fmt"

	"weft/internal/driver"
)

// findRoute chooses the transport to a rank: shared memory if both ranks are on one host and
// have it, else raw Ethernet if both have it and are on one segment, else UDP; TCP if it was
// asked for.
func (p *Proc) findRoute(rank int) (driver.Route, error) {
	c, err := p.cardOf(rank)
	if err != nil {
		return driver.Route{}, err
	}
	var r driver.Route
	why := ""
	for _, t := range p.trs {
		name := t.Caps().Name
		switch {
		case name == "shm" && c.Shm != "" && c.Host == p.job.Host:
			r = driver.Route{Transport: t, Card: c.Shm}
			why = whyShm
		case name == "eth" && c.Eth != "" && r.Transport == nil && c.Host != p.job.Host &&
			(p.cfg.Transport == TransportEth || p.eth.OnSegment(c.Eth)):
			r = driver.Route{Transport: t, Card: c.Eth}
			why = p.whyEth
		case name == "tcp" && c.Tcp != "":
			r = driver.Route{Transport: t, Card: c.Tcp}
			why = whyTCP
		case name == "udp" && c.Udp != "" && r.Transport == nil:
			r = driver.Route{Transport: t, Card: c.Udp}
			why = p.whyUDP(c)
		}
	}
	if r.Transport == nil {
		return r, fmt.Errorf("weft: no transport reaches rank %d on host %s from host %s with -transport %s%s",
			rank, c.Host, p.job.Host, p.cfg.Transport, c.NoShm)
	}
	g := p.guardFor(r.Transport.Caps().Name, c)
	r.Incarnation = c.Life
	r.Guard = g.Guard
	p.mu.Lock()
	p.routes[rank] = route{c.Host, why, g}
	p.mu.Unlock()
	return r, nil
}

// cardOf returns the card of a rank. It waits until the rank has published it.
func (p *Proc) cardOf(rank int) (card, error) {
	text, err := p.src.Get(p.ctx, rank, "card")
	if err != nil {
		return card{}, err
	}
	c, err := parseCard(text)
	if err != nil {
		return card{}, fmt.Errorf("rank %d: %w", rank, err)
	}
	return c, p.cfg.agrees(rank, c)
}

func (p *Proc) whyUDP(c card) string {
	switch {
	case p.cfg.Transport == TransportUDP:
		return "-transport udp was asked for"
	case c.Host != p.job.Host:
		return "another host, so UDP; " + p.whyNotEth(c)
	default:
		return "shared memory is not available: " + c.NoShm
	}
}

// whyNotEth says why raw Ethernet is not used.
func (p *Proc) whyNotEth(c card) string {
	switch {
	case p.cfg.Interface == "":
		return "no interface for raw Ethernet is given (" + envInterface + ")"
	case p.noEth != "":
		return p.noEth
	case c.Eth == "":
		return "it has no raw Ethernet"
	case p.eth != nil && !p.eth.OnSegment(c.Eth):
		return "it is in another subnet, which raw Ethernet does not reach"
	default:
		return "raw Ethernet was not asked for"
	}
}
