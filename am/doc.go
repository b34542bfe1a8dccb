// Package am is Active Messages: a message names the handler that runs when it arrives.
// It is Generic Active Messages (GAM, as in the Berkeley LAM library that paper 003
// measures) with the errors of endpoints of Active Messages II, on package weft.
//
// # What it guarantees
//
// Messages from one rank to another are handled in the order in which they were sent, each
// once. Handlers run one at a time, in the goroutine that polls, and only there: a rank
// that does not poll serves nobody. Every request is answered: by the handler's reply, by
// a null reply if it sent none, or by the news that it is returned, with the reason; so
// its credit always comes back.
//
// Each rank may have Depth requests to each other rank unanswered, and every rank has room
// for so many requests and replies of all others. Therefore a reply never waits. A request
// without a credit waits, and runs handlers while it does. So programs whose handlers keep
// to the rules do not deadlock by sending. The memory for messages is bounded by Depth
// times the number of ranks. A message is copied into it once at the sender, and once on
// arrival; the data of Store, Get and ReplyXfer is written into the Segment without a copy
// between (but for ReplyXfer to another host, which copies first).
//
// No data path allocates.
//
// # The rules of handlers
//
// A request handler replies at most once, to the requester, and sends nothing else. A reply
// handler sends nothing. Neither polls or blocks. The replies are methods of [Call], so
// they go to the requester by construction; what else a handler does against the rules is a
// [RuleError].
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
//	AM_SetSeg                           Config.Segment
//
// # What differs
//
// Handlers are named by an index into a table, not by an address: addresses are not the
// same in all processes. Remote memory is an offset in a segment of one length at all
// ranks, and its bounds are checked at both ends. Words have 64 bits. A call that sends
// polls only if it must wait for a credit. Data of stores travels as a PUSH of package weft,
// which cuts it into packets; the handler's message follows it, and is never before it. The
// link below resends what is lost, so there are no timeouts here. A rank that dies is
// reported within the liveness time. Tags of AM-II are not needed: strangers cannot enter a
// job.
//
// # Sources
//
// T. von Eicken, D. Culler, S. Goldstein, K. Schauser: "Active Messages: a Mechanism for
// Integrated Communication and Computation" (ISCA 1992). D. Culler et al.: "Generic Active
// Message Interface Specification" (1994), and the LAM library's algorithm of credits.
// A. Mainwaring, D. Culler: "Active Message Applications Programming Interface and
// Communication Subsystem Organization" (1996), for endpoints and returned messages.
package am
