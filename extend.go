package weft

import (
	"weft/internal/amt"
	"weft/internal/engine/rma"
	"weft/internal/inside"
	"weft/internal/sim/job"
)

// Package extend gives libraries calls that programs seldom need. It and the laboratory lie above this package.
func init() {
	inside.OfProc = func(p any) inside.Proc { return p.(*Proc).parts() }
	inside.OfRegion = func(r any) *rma.Region { return r.(*Region).region }
	inside.Cluster = func(p any) *job.Job { return job.Of(p.(*Proc).member) }
	inside.OfPort = func(q any) inside.Port {
		port := q.(*Port)
		return inside.Port{
			Proc: port.p.parts(), Port: port.port, Channel: port.channel, Kind: port.kind, Trace: port.p.member.Trace,
		}
	}
	inside.Collective = func(q any) any {
		port := *q.(*Port)
		port.kind = amt.Collective
		return &port
	}
	inside.Open = func(p any, channel int, cfg any) (any, error) {
		return p.(*Proc).openPort(channel, cfg.(*PortConfig))
	}
	inside.Library = func(p, key any, make func() any) any { return p.(*Proc).library(key, make) }
	inside.State = func(q any, to int) error { return q.(*Port).state(to) }
}

// library returns what a library keeps for the Proc, which is made at the first call.
func (p *Proc) library(key any, make func() any) any {
	p.open.Lock()
	defer p.open.Unlock()
	v := p.open.libraries[key]
	if v == nil {
		v = make()
		p.open.libraries[key] = v
	}
	return v
}

func (p *Proc) parts() inside.Proc {
	return inside.Proc{Node: p.node, Job: &p.job, Memory: p.memory, Waits: &p.waits}
}
