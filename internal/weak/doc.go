// Package weak has memory that several processors see in different orders, as the Go memory model and the processor
// arm64 allow, for tests of protocols that have no locks. The product does not use it. In the build of the
// planted bugs (go run ./lab/planted) an overlay puts it in the place of sync/atomic.
//
// A test makes a Memory, gives each of its goroutines a View, and runs the goroutines in an interleave.Scheduler. A
// View is a slice of its own, so ordinary reads and writes need no instrumentation. What passes between Views, and
// when:
//
//	an ordinary write     becomes visible to all others at once, some time later. Writes to different words do so in
//	                      any order
//	an ordinary read      sees what its View has: no less than the View knew at its last atomic operation
//	an atomic load        waits for nothing of its own; from then on the View knows what is visible
//	an atomic store       first makes visible what its View has written
//	any other operation   does both
//	mem.Publish           as an atomic store, but some time later, and those of a View in their order
//
// A word has 4 bytes. The choices are the seed's. Not modelled: ordinary reads that a later store overtakes.
//
// Tested by the tests named TestPlanted of the packages ring, mailbox, hostbarrier and stream.
package weak
