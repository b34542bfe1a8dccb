// Package inside hands what a Proc and a Port of package weft consist of to package extend and to the laboratory, which
// lie above weft and cannot see it. Package weft sets the variables when the program starts.
package inside

import (
	"weft/internal/amt"
	"weft/internal/bootstrap"
	"weft/internal/driver"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/sharedmem"
	"weft/internal/sim/job"
	"weft/internal/waitgraph"
)

// A Proc is the parts of a weft.Proc.
type Proc struct {
	Node   *driver.Node
	Job    *bootstrap.Job
	Memory *sharedmem.Table
	Waits  *waitgraph.Waits
}

// A Port is the parts of a weft.Port.
type Port struct {
	Proc
	Port    *msg.Port
	Channel int
	Kind    amt.Kind    // of what is sent
	Trace   *amt.Tracer // or nil
}

// Reserved is the first of the channels that belong to libraries.
const Reserved = 1<<16 - 4

var (
	// OfProc returns the parts of a *weft.Proc.
	OfProc func(p any) Proc
	// Cluster returns the virtual cluster of a *weft.Proc that is simulated.
	Cluster func(p any) *job.Job
	// OfRegion returns what the engine has of a *weft.Region.
	OfRegion func(r any) *rma.Region
	// OfPort returns the parts of a *weft.Port.
	OfPort func(q any) Port

	// Collective returns a second handle of a *weft.Port, whose messages count as part of collective operations.
	Collective func(q any) any

	// Open opens the port of a channel of a *weft.Proc, also one from Reserved on, which no program can open.
	Open func(p any, channel int, cfg any) (q any, err error)

	// Library returns what a library keeps for a *weft.Proc under a key of its own; make makes it at the first call.
	Library func(p, key any, make func() any) any

	// State returns the error that keeps messages from being sent on a *weft.Port to a rank, or nil.
	State func(q any, to int) error
)
