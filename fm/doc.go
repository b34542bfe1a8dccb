// Package fm is Fast Messages: a message is a stream of pieces of any size, and its handler
// begins when the first packet has come. It is Illinois Fast Messages 2 (as in the
// library that paper 003 measures), on package weft.
//
// # What it guarantees
//
// Messages from one rank to another are handled in the order in which they were sent, each
// once. The pieces in which a message is sent need not be those in which it is received.
//
// A handler that asks for bytes that have not come is suspended, and the packet that brings
// them resumes it; meanwhile other handlers run, and the program. So handlers of messages
// from several ranks interleave: of two pieces of a handler, with a Receive between, others
// may run. But no two run at the same time, and they run only in calls of the endpoint: a
// rank that does not extract serves nobody. A handler's coroutine is kept for the next one;
// a message of one packet needs none.
//
// Each rank has a receive region, split evenly among the others: so many packets, its
// credits, each may send it before it has extracted some. Credits come back with packets
// that go the other way, or alone when half of them are owed. Therefore memory is bounded
// by Config.Packets, whatever arrives finds room, and a program does not deadlock by
// sending: a call that waits for credits extracts meanwhile.
//
// Bytes are copied into a packet, from there to the other rank, and from there to where
// the handler receives them. No data path allocates.
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
// Of the original's one lock for sending there is one for each destination: messages to
// different ranks can be sent at the same time. SendPiece copies, so a piece may be changed
// when it returns. An error ends a message at both ends: a sender that gives up, dies or
// leaves ends the handler's Receive with an error; a handler that fails or panics is told
// to the sender. There is no FM_QUIT: Until stops when its condition holds. Until and Wait
// sleep while nothing arrives, where programs of the original polled. A rank sends nothing
// to itself.
//
// # Sources
//
// S. Pakin, M. Lauria, A. Chien: "High Performance Messaging on Workstations: Illinois Fast
// Messages (FM) for Myrinet" (SC 1995). M. Lauria, S. Pakin, A. Chien: "Efficient Layering
// for High Speed Communication: Fast Messages 2.x" (HPDC 1998). The user's guide of FM 2.0.
package fm
