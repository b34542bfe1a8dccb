// Package endpoint is what the message libraries with handlers, am and fm, have in
// common: a port that all ranks open together with the same table of handlers, and that
// the goroutines of a rank drive in turns.
//
// An [Endpoint] belongs to the goroutine that has entered it. That goroutine takes
// messages and runs handlers, one at a time; while it sleeps in Receive it gives the
// endpoint up, so that other goroutines can send. A handler that calls back into its own
// endpoint would wait for itself: Enter finds that out, and returns ErrInHandler.
//
// The departure of a rank, whether it died or left in good order, is told to whoever
// drives the endpoint behind everything that the rank had sent.
package endpoint
