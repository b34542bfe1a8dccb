// Package am is Active Messages on package weft: a message names the handler that runs when it
// arrives. The calls are those of Generic Active Messages [Culler94], as in the Berkeley LAM library
// that [Konishi97] measures, with the returned messages of Active Messages II [Mainwaring96].
//
// # What it guarantees
//
// Messages from one rank to another are handled in the order in which they were sent, each once.
// Handlers run one at a time, in the goroutine that polls: a rank that does not poll serves no
// requests. Every request is answered: by the handler's reply, by a null reply if the handler sent
// none, or by the notice that the request is returned, with the reason. So its credit always comes
// back.
//
// A rank may have Depth unanswered requests to each other rank, and every rank has room for that many
// requests and replies from all others. Therefore a reply never waits. A request without a credit
// waits, and runs handlers meanwhile. So a program whose handlers keep to the rules does not deadlock
// by sending, and the memory for messages is bounded by Depth times the number of ranks.
//
// A message is copied once at the sender and once on arrival. The data of Store, Get and ReplyXfer is
// written straight into the Segment; only ReplyXfer to another host copies it first. No data path
// allocates.
//
// # The rules of handlers
//
// A request handler sends at most one message: a reply to the requester. A reply handler sends
// nothing. Neither polls or blocks. Replies are methods of [Call], so they always go to the requester.
// A handler that breaks another rule gets a [RuleError].
//
// # The calls of the originals
//
//	am_enable, AM_AllocateEndpoint      Open, which also checks that all tables are equal
//	am_disable                          Barrier, and then Close
//	am_procs, am_my_proc                Size, Rank
//	am_max_size                         MaxXfer; Store and Get have no limit
//	am_request_0…4, AM_Request4         Request; AM_RequestI4: RequestMedium
//	am_reply_0…4, AM_Reply4             Call.Reply; AM_ReplyI4: Call.ReplyMedium
//	am_store, AM_RequestXfer4           Store
//	am_store_async, AM_RequestXferAsync StoreAsync
//	am_get, AM_GetXfer4                 Get
//	am_reply_xfer, AM_ReplyXfer4        Call.ReplyXfer
//	am_poll, AM_Poll                    Poll
//	am_sleep, AM_Wait                   Wait
//	a loop of am_poll                   Until
//	handler 0, AM_SetHandler(0)         Config.Returned
//	AM_SetSeg, AM_GetSeg                Config.Segment, SegmentSize
//	AM_AllocateBundle                   OpenBundle
//	AM_Map, AM_Unmap                    Map, Unmap; AM_GetTranslationName, …Tag, …Inuse: Translation
//	AM_SetTag                           SetTag
//	AM_SetEventMask                     SetEvents
//
// # What differs
//
// A handler is named by an index into a table rather than by an address, since addresses differ
// between processes. Remote memory is an offset in a segment; both ends check its bounds. Words have
// 64 bits. A call that sends polls only if it must wait for a credit. The data of a store travels as
// a PUSH of package weft, which cuts it into packets; the handler's message always arrives behind it.
// So a rank asks whether its tag is right before it stores under a new name. The links of package weft
// resend lost packets, so there are no timeouts here. The death of a rank is reported within the
// liveness time.
//
// The endpoints of a bundle share the credits. Map needs no authority: a name is a rank and a number,
// and a rank outside the job can send nothing. A tag keeps out ranks that have not been told it.
//
// # Sources
//
// [Eicken92] for active messages, [Culler94] for the calls and the credits, [Mainwaring96] for
// endpoints and returned messages; docs/REFERENCES.md has the titles.
//
// Tested in this directory: scenarios_test.go in all kinds of jobs, seeds_test.go with random programs
// under faults, processes_linux_test.go with processes that are killed.
package am
