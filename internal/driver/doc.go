// Package driver runs an engine on real transports and real time.
//
// A Node owns one engine under one lock. Any goroutine may start an operation:
// it takes the lock, hands the operation to the engine, sends what the engine
// has to send, and is often done. A goroutine that must wait first reaps: it
// polls the transports and runs the engine itself, without sleeping, for a
// budget that adapts to how long waits turn out to be. Then it parks: the first
// to do so sleeps on the doorbell, the others on channels. The doorbell is the
// interrupt, and it is only armed while nobody reaps (PM/Ethernet's interrupt
// reaping). When nobody waits at all the node's service goroutine sleeps there.
//
// What needs no processor at the target, remote memory that is mapped here, is
// done at once by Direct.
package driver
