// Package coord coordinates: locks, semaphores, conditions and barriers, by
// name within a job. (PROTOCOL §9)
//
// What is shared by name has a home, a rank that follows from the name. There
// are two locks: the distributed queue of RHiNET (queue_lock.go, lock_home.go), in which
// the holder hands a token to its successor and the home only knows who was the
// last to ask; and the Non-Collision Lock of the ETL controller (permits.go), a
// first-in first-out queue at the home, which read-write locks and counting
// semaphores are too. Conditions (cond.go) keep their waiters at home.
//
// A barrier has no home. Its algorithm is a plan (plan.go): for every member a
// few gates, each of which opens when it has got all its inputs and then sends
// inputs to gates of others. Trees, dissemination, the shuffle exchanges and the
// central barrier are plans; barrier.go runs any of them, with several phases
// open at a time (the overlappable barrier). Members that come and go
// (phaser.go) and RBCQ-1 (regions.go) need somebody who counts: a home.
//
// Whoever dies is taken out: of queues, with the next holder told; of barriers,
// with an error for all others.
package coord
