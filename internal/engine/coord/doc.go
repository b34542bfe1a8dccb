// Package coord coordinates: locks, semaphores, conditions and barriers, by
// name within a job. (PROTOCOL §9)
//
// Each name has a home, a rank that follows from the name. There are two kinds of locks. In
// the distributed queue of RHiNET (queue_lock.go, lock_home.go; [Miyawaki01]) the holder
// hands a token to its successor, and the home only knows which rank asked last. The
// Non-Collision Lock of the ETL controller (permits.go, permit_home.go; [Hayakawa98]) is a
// first-in first-out queue at the home; read-write locks and counting semaphores use it,
// too. The waiters of a condition (cond.go) are listed at its home.
//
// A barrier has no home. Its algorithm is a plan (plan.go): for every member a
// few gates, each of which opens when it has got all its inputs and then sends
// inputs to gates of others. Trees, dissemination, the shuffle exchanges and the
// central barrier are plans; barrier.go runs any of them, with several phases
// open at a time (the overlappable barrier). RBCQ-1 (regions.go) needs a home that counts.
//
// A rank that dies is taken out of queues, and the next holder is told. A barrier that
// needs it ends with an error for all others.
//
// Keys in brackets are those of docs/REFERENCES.md. Tested in queue_test.go (every order of
// events, deaths), plan_test.go, regions_test.go, inputs_test.go and
// lies_test.go; with links between the ranks by the scenarios of package engine, and under
// faults by lab/stress.
package coord
