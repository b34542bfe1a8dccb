package weft

import (
	"context"
	"slices"
)

// A Group is a process group within the job, the PGID of [Miyawaki01]: some ranks whose windows, the ports and regions
// that they open through the Group, no other rank can use. A rank may be in several groups, with windows of each.
// Groups hold no state: each rank makes its own.
type Group struct {
	p     *Proc
	name  string
	ranks []int
}

// Group returns the group of a name of 1 to 100 bytes and of some ranks, of which this rank must be one. All of them
// name the same ranks. It does not communicate.
func (p *Proc) Group(name string, ranks []int) (*Group, error) {
	if len(name) < 1 || len(name) > 100 {
		return nil, &ConfigError{Field: "length of the group's name", Value: len(name), Min: 1, Max: 100}
	}
	for _, rank := range ranks {
		if err := p.check(rank); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(ranks, p.job.Rank) {
		return nil, &StateError{Name: name, Do: "use group", Err: ErrNotMember, Why: "this rank is not one of its members"}
	}
	return &Group{p: p, name: name, ranks: slices.Clone(ranks)}, nil
}

// Ranks returns the members, in the order of Proc.Group.
func (g *Group) Ranks() []int { return slices.Clone(g.ranks) }

// OpenPort is Proc.OpenPort of a port that exchanges messages with members alone: the group takes the place of
// PortConfig.Sources and Destinations. Channels are numbered for the whole job, so two groups that have a rank in
// common need two channels.
func (g *Group) OpenPort(channel int, cfg *PortConfig) (*Port, error) {
	var c PortConfig
	if cfg != nil {
		c = *cfg
	}
	c.Sources = g.ranks
	c.Destinations = g.ranks
	return g.p.OpenPort(channel, &c)
}

// OpenRegion is Proc.OpenRegion of a region that members alone can reach: the group takes the place of
// RegionConfig.Ranks. The name is the group's own, so regions of two groups may have the same.
func (g *Group) OpenRegion(ctx context.Context, name string, size int, cfg *RegionConfig) (*Region, error) {
	var c RegionConfig
	if cfg != nil {
		c = *cfg
	}
	c.Ranks = g.ranks
	return g.p.OpenRegion(ctx, g.qualified(name), size, &c)
}

// AttachRegion is Proc.AttachRegion of a region that a member has opened through the group.
func (g *Group) AttachRegion(ctx context.Context, rank int, name string) (*Remote, error) {
	return g.p.AttachRegion(ctx, rank, g.qualified(name))
}

// qualified returns the name of a region of the group among those of the job.
func (g *Group) qualified(name string) string { return "group " + g.name + ": " + name }
