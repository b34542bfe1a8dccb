// Package mailbox is the memory of a mailbox (PROTOCOL §10.4; IPUSH of [Kitamura06]): the
// table that gives each sender a ring, the rings, and the status ring that all
// senders have in common. Its words are used with atomic instructions, so that
// processes that map it write side by side with the owner's engine, which writes
// for the senders that do not.
//
// A sender reserves room by moving a ring's Tail, copies its bytes there, and then
// writes a record to the status ring: that is their arrival. The owner reads the
// records in order, and gives room back by moving Head over what has been released.
// Head and Tail count bytes and never go back, so that a full ring does not look like
// an empty one. Room in the status ring is reserved before any byte is written.
//
// A sender can be killed at any of these steps. It marks a line of its own as busy first; see
// Recover.
//
// Keys in brackets are those of docs/REFERENCES.md. Tested in mailbox_test.go, model_test.go
// (against a model), recover_test.go (a sender killed at each step), concurrent_test.go and
// hostile_test.go.
package mailbox
