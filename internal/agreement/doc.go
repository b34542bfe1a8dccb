// Package agreement is the consensus below mpi.Comm.Agree and Shrink (PROTOCOL §12): the members of a
// group agree on a value and on which members are dead, whichever members die meanwhile. It is pure: news
// of deaths and messages go in, messages come out, and no clock is needed. The program that runs a [Node]
// delivers messages reliably between members that live, and tells the Node of every member that has died
// or left.
//
// # The algorithm
//
// There is no coordinator. The members make attempts. An attempt is named by its view: the set of members
// that are taken for dead in it. The m members that live in the view take part in 2⌈log₂ m⌉ rounds of
// dissemination [Hensgen88]: in each round a member sends what it knows to one member, and waits for a
// message of another one. The rounds have two halves:
//
//	gather   At the end each member has heard, directly or not, of the contributions of all, so all compute
//	         the same value: they accept it. If members accepted values in earlier attempts, it is the
//	         value of the largest view. Otherwise it is computed from the contributions, and its dead are
//	         the members in the view.
//	settle   At the end each member has heard that all have accepted the value: it is decided.
//
// A member's view only grows, by news of a death and by the views in messages of others. Then the member
// begins an attempt in the new view, and its messages spread the view. Messages of other views are
// dropped. A member that has decided still takes part in attempts in views that are new to it, with the
// value that it has accepted. So a member that was left behind, because another one died in the last
// round, decides, too.
//
// # Why a decision is final
//
// When a member decides in a view, all members that live in that view have accepted the value in it. Each
// member of an attempt in a larger view is one of those, accepted the value before, and says so. This is
// the estimate with a timestamp of [Chandra96], with the size of the view as the timestamp, and with all
// members that live in the view in the place of a majority: any number of members may die. The rule that
// all members exclude a member which one of them takes for dead is that of [Ricciardi91]. The meaning of
// the agreement is that of MPI_Comm_agree in ULFM [Herault15].
//
// # Wrong suspicions
//
// A member that lives may be taken for dead, because it was stopped or some members cannot reach it. Every
// member that hears of this from another one tells it so; then it is excluded, and agrees to nothing any
// more. Two members that return a result and have not taken each other for dead return the same result.
// If no message can pass between two sets of members in either direction, each set takes the other for
// dead and agrees by itself, on a set of dead members that includes the other set.
//
// Tested in this directory: cluster_test.go plays members, deaths and delays from seeds.
package agreement
