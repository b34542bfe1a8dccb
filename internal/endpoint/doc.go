// Package endpoint is the common part of am and fm, the message libraries with handlers: a port that all
// ranks open together with the same table of handlers, and that one goroutine of a rank at a time uses.
//
// A goroutine enters an [Endpoint], receives messages, runs their handlers one at a time, and leaves it.
// While it sleeps in Receive it gives the Endpoint up, so that other goroutines can send. A handler that
// called its own endpoint would wait for itself: Enter detects that, and returns Config.InHandler.
//
// The goroutine that receives learns of the departure of a rank, by death or in good order, behind all
// messages that the rank had sent.
//
// Tested in open_test.go, and in the scenarios of packages am and fm.
package endpoint
