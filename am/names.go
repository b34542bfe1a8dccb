package am

import (
	"context"
	"fmt"

	"weft"
)

// A Name names an endpoint in the job: its rank, and its number in the bundle of that rank.
type Name struct{ Rank, Endpoint int }

// A Tag protects an endpoint: it takes a request only if the request carries its tag, and returns others to their
// senders with ErrTag. The first tag of every endpoint is 0.
type Tag uint64

// AnyTag is the tag of an endpoint that takes requests of all tags.
const AnyTag = ^Tag(0)

// maxTranslations is the size of the largest table.
const maxTranslations = 1 << 16

// A translation is an entry of the table: what an index stands for.
type translation struct {
	Name
	tag   Tag
	proof proof
	why   error // refused: why
}

// A proof says whether the endpoint is known to take the tag. Data is written there only then, as the message that
// carries the tag comes behind the data.
type proof uint8

const (
	unproved proof = iota
	asking         // a message asks the endpoint
	proved
	refused
)

// Name returns the name of this endpoint.
func (e *Endpoint) Name() Name { return Name{e.ep.Me, e.number} }

// SetTag changes the tag of this endpoint. Requests that have not been handled, and later ones, must carry the new
// tag. A rank whose last tag was right may not know better yet: the data of its stores is still written into the
// segment, until the first of them has come back to it.
func (e *Endpoint) SetTag(t Tag) error {
	if err := e.ep.Enter(context.Background()); err != nil {
		return err
	}
	defer e.ep.Leave()
	e.tag = t
	return nil
}

// Map makes index, 0 to 65535, stand for an endpoint, in all calls that take the number of a receiver. Requests then
// carry the tag. Before the first Map, index i stands for the endpoint of this endpoint's own number at rank i, with
// tag 0; these entries stay until they are replaced. If the endpoint cannot be, the error is a NameError.
func (e *Endpoint) Map(index int, n Name, tag Tag) error {
	switch {
	case uint(index) >= maxTranslations:
		return &weft.ConfigError{Field: "index of the translation", Value: index, Min: 0, Max: maxTranslations - 1}
	case uint(n.Rank) >= uint(e.ep.Size):
		return &weft.RankError{Rank: n.Rank, Size: e.ep.Size}
	case uint(n.Endpoint) >= uint(len(e.ends)):
		why := fmt.Sprintf("there is no endpoint %d: the bundle has %d", n.Endpoint, len(e.ends))
		return &NameError{Index: index, Why: why}
	}
	return e.change(index, &translation{Name: n, tag: tag})
}

// Unmap ends what index stands for. Requests to it are refused with a NameError from then on; those that are under way
// are not affected.
func (e *Endpoint) Unmap(index int) error { return e.change(index, nil) }

// change replaces an entry of the table.
func (e *Endpoint) change(index int, t *translation) error {
	if err := e.ep.Enter(context.Background()); err != nil {
		return err
	}
	defer e.ep.Leave()
	for i := len(e.names); i <= index || i < e.ep.Size; i++ {
		var first *translation
		if i < e.ep.Size {
			first = &translation{Name: Name{i, e.number}, proof: proved}
		}
		e.names = append(e.names, first)
	}
	if uint(index) < uint(len(e.names)) {
		e.names[index] = t
	}
	return nil
}

// Translation returns what index stands for, and reports whether it stands for anything.
func (e *Endpoint) Translation(index int) (n Name, tag Tag, ok bool) {
	if e.ep.Enter(context.Background()) != nil {
		return Name{}, 0, false
	}
	defer e.ep.Leave()
	t, err := e.target(index)
	return Name{t.rank, int(t.to)}, t.tag, err == nil
}

// A target is where a request goes.
type target struct {
	rank int
	address
	name *translation // nil: it is not in the table
}

// target returns what index stands for.
func (e *Endpoint) target(index int) (target, error) {
	own := uint16(e.number)
	if e.names == nil {
		if uint(index) >= uint(len(e.peers)) {
			return target{}, &weft.RankError{Rank: index, Size: len(e.peers)}
		}
		return target{rank: index, address: address{to: own, from: own}}, nil
	}
	if uint(index) >= uint(len(e.names)) || e.names[index] == nil {
		return target{}, &NameError{Index: index, Why: "it stands for no endpoint: call Map"}
	}
	t := e.names[index]
	return target{t.Rank, address{to: uint16(t.Endpoint), from: own, tag: t.tag}, t}, nil
}

// takes reports whether this endpoint takes requests that carry the tag.
func (e *Endpoint) takes(t Tag) bool { return e.tag == t || e.tag == AnyTag }

// prove asks the target, unless that is known, whether it takes the tag. It returns the target's refusal as why.
func (e *Endpoint) prove(ctx context.Context, g target) (why, err error) {
	for t := g.name; t != nil && t.proof != proved; {
		if t.proof == refused {
			t.proof = unproved
			return t.why, nil
		}
		p, err := e.credit(ctx, g.rank)
		if err != nil {
			return nil, err
		}
		if t.proof == unproved {
			if err := e.ask(p, g, e.put(e.out[:], g.address, kindProve, 0, nil), record{call: callProve}, nil); err != nil {
				return nil, err
			}
			t.proof = asking
		}
		for t.proof == asking {
			if err := e.ep.Step(ctx); err != nil {
				return nil, e.ep.Explain(err, "store", fmt.Sprintf("rank %d has not said whether the tag is right", g.rank))
			}
		}
	}
	return nil, nil
}
