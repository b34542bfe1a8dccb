// Package extend is for libraries on top of weft: it has the calls that programs seldom need. Packages am, fm, pm,
// vmmc, mpi and stream are written with it.
//
// Of returns what a weft.Port can do besides: send if there is room for more, receive into a buffer of the library, set
// a signal when there is something to receive, and give up its state for another one (Freeze).
//
// A [Signal] lets goroutines of a rank wake each other, and a [Coroutine] is a function that yields in its middle. Both
// also work in a simulation.
package extend
