// Package driver runs an engine on real transports and real time.
//
// A Node owns one engine under one lock. Any goroutine may start an operation:
// it takes the lock, hands the operation to the engine, sends what the engine
// has to send, and is often done. A goroutine that must wait first reaps: it
// polls the transports and runs the engine itself, without sleeping, for a
// budget that adapts to how long waits turn out to be. Then it parks, and the
// node's service goroutine sleeps on the doorbell for it: the doorbell is the
// interrupt, and it is only armed while nobody reaps (PM/Ethernet's interrupt
// reaping).
//
// What needs no processor at the target, remote memory that is mapped here, is
// done at once by Direct.
package driver
