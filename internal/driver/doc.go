// Package driver runs an engine on real transports and in real time.
//
// A Node owns one engine under one lock. Any goroutine may start an operation:
// it takes the lock, hands the operation to the engine, sends what the engine
// has to send, and is often done. A goroutine that must wait first polls: it looks at
// the transports and runs the engine itself, without sleeping, for a
// budget that adapts to how long waits turn out to be. Then it parks: the first goroutine
// to park sleeps on the doorbell, the others on channels. The doorbell is the
// interrupt. It is armed only while no goroutine polls, which PM/Ethernet calls interrupt
// reaping [Sumimoto00]. When no goroutine waits, the node's service goroutine sleeps there.
// Package duty decides which goroutine does what.
//
// What needs no processor at the target, memory of a peer that is mapped here, is
// accessed at once by Direct.
//
// How to read it: node.go declares a Node and its parts; message.go, region.go, mailbox.go and
// coord.go begin operations; progress.go moves packets; straight.go is the short way of a receive; waiting.go carries
// out what package duty decides; wait.go, reap.go and park.go wait; serve.go is the service; close.go the end. On a
// simulated machine (Host) hosted.go takes the place of waiting and of the service.
//
// Tested in wait_test.go and serve_test.go on a rig of two nodes
// (rig_test.go), in progress_test.go (long messages), and in model_test.go, with the build tag "mutants", in all
// interleavings of small programs.
package driver
