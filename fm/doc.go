// Package fm is Illinois Fast Messages 2 on package weft: a message is a stream of pieces of any size,
// and its handler begins when the first packet has arrived. It has the calls of the library that
// [Konishi97] measures.
//
// # What it guarantees
//
// Messages from one rank to another are handled in the order in which they were sent, each once. A
// message may be received in other pieces than those in which it was sent.
//
// A handler that asks for bytes that have not arrived is suspended, and the packet that brings them
// resumes it. Meanwhile the program and other handlers run, so the handlers of messages from several
// ranks interleave at their calls of Receive. But no two handlers run at the same time, and handlers
// run only in calls of the endpoint: a rank that does not call Extract serves no messages. A handler
// that may be suspended runs in a coroutine, which is kept for the next one; a message of one packet
// needs none. A packet is sent when it is full, so a handler begins while its message is being sent,
// if the message is longer than a packet (Config.Packet).
//
// Each rank has a receive region for packets, split evenly among the other ranks: each of them may
// send as many packets, its credits, as its share holds before this rank has extracted some. Credits
// come back with packets in the other direction, or in a message of their own when half of them are
// owed. Therefore memory is bounded by Config.Packets, every packet finds room, and a program does not
// deadlock by sending: a call that waits for credits extracts meanwhile.
//
// Bytes are copied into a packet, from there to the other rank, and from there to the memory that the
// handler passes to Receive. No data path allocates.
//
// # The calls of the original
//
//	FM_initialize            Open, which also checks that all tables are equal
//	FM_register_handler      the table that Open is given
//	FM_nodeid, FM_numnodes   Rank, Size
//	FM_reallocate_credit     Open: it returns when all are up
//	FM_begin_message         BeginMessage; NULL is ErrNoCredit, or a weft.TooLongError if it
//	                         never can be; BeginMessageWait waits; in a handler,
//	                         Message.BeginMessage
//	FM_send_piece            Stream.SendPiece
//	FM_end_message           Stream.EndMessage
//	FM_extract               Extract
//	FM_receive               Message.Receive
//	handler(stream, sender)  Handler.Func, of a Message, which knows its sender and length
//
// # What differs
//
// The original has one lock for sending, and fm has one for each destination: messages to different
// ranks can be sent at the same time. SendPiece copies, so the caller may change a piece when it has
// returned. An error ends a message at both ends: if the sender gives up, dies or leaves, the handler's
// Receive returns an error; if a handler fails or panics, the sender is told. There is no FM_QUIT: Until
// stops when its condition holds. Until and Wait sleep while nothing arrives, where programs of the
// original polled. A rank cannot send to itself.
//
// # Sources
//
// [Pakin95] for Fast Messages, [Lauria98] for streams and handlers that suspend; docs/REFERENCES.md has
// the titles.
//
// Tested in this directory: scenarios_test.go in all kinds of jobs, seeds_test.go with random programs
// under faults, processes_linux_test.go with processes that are killed.
package fm
