// Package inbox is both ends of a mailbox on a node: an Inbox, which takes the messages that have arrived, and Senders,
// which write into the mailbox where its memory is mapped, and send packets elsewhere. What lies in the memory is
// package mailbox's.
//
// All Senders of a process to one mailbox share a Way. It keeps the order: while a message is on its way in packets, no
// later one is written into the memory.
//
// Tested in way_test.go and timeline_test.go, and by the tests of mailboxes of package weft on every transport.
package inbox
