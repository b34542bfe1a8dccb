// Package agreement lets the members of a group agree on a value and on who is dead, whoever dies meanwhile, at whatever
// moment: the consensus below coll.Group.Agree and Shrink. It is pure: news of deaths and messages go in, messages come
// out. Whoever runs a [Node] delivers messages reliably to members that live, and tells it of every member that takes no
// part any more. It needs no clock.
//
// There is no coordinator. A member takes part in an attempt, which is named by its view: the set of members that it
// takes for dead. In each of ⌈log₂ m⌉ rounds among the m members that live in the view it sends what it knows to one of
// them and waits for another (dissemination: Hensgen, Finkel and Manber 1988), twice:
//
//	gather   after the rounds each member has heard, directly or not, of the contributions of all, and so each
//	         works out the same value: it has accepted it. If some had accepted a value in an earlier
//	         attempt, it is that of the largest view; else that of the contributions, and the view is the set of the dead.
//	settle   after the rounds each member has heard that all have accepted the value: it is decided.
//
// A view only grows: by news of a death, and by the views in the messages of others. Then the member begins again in the
// new view, and tells its successor there; so the news goes round. Messages of other views are of no use. A
// member that has decided goes on answering: when an attempt in a view that is new to it comes along, it takes part in that
// with what it had accepted. So whoever is left behind, because a member died in the middle of the last round, gets through.
//
// The value that was decided stays the value: when a member decides in a view, all that live in the view have accepted the
// value in it. Whoever takes part in an attempt of a larger view is one of them, had accepted before it went on to that
// view, and says so. This is the estimate with a timestamp of Chandra and Toueg (Unreliable failure detectors for reliable
// distributed systems, J. ACM 1996), with the size of the view as the timestamp, and with all that live in
// the view where they have a majority: any number of members may die. That the living exclude whoever one of them takes
// for dead, and shun it, is Ricciardi and Birman's (Using process groups to implement failure detection in
// asynchronous environments, PODC 1991). The meaning of the agreement is that of MPI_Comm_agree in ULFM (Herault et al.,
// Practical scalable consensus for pseudo-synchronous distributed systems, SC 2015).
//
// A member may be taken for dead that lives: it was stopped, or cannot be reached by some. It is told so by every member
// that hears of it from another one, and is excluded then: it agrees to nothing any more. Two members that return a result
// and have not taken each other for dead have the same. Members between which no message can pass, in neither direction,
// take each other for dead: then each side agrees for itself, on a set of the dead that has the other side in it.
package agreement
