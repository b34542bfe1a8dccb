// Package pm is PM, the communication library of the RWC project for clusters, with the calls of PM-II, on weft.
//
// A program asks for a send buffer, fills it in place, and sends it; it receives a message where it lies, and gives
// it back. No call waits (but the first use of a memory handle, and Wait): what cannot be done now is refused, and the
// program tries again. While it does so it receives, since those for whom it waits may wait for room here. That duty of
// the caller is what keeps PM's programs from waiting for each other for ever.
//
//	for {
//		b, err := c.GetSendBuffer(node, n)
//		if err == nil {
//			fill(b)
//			err = c.Send()
//			break
//		}
//		if err != weft.ErrWouldBlock { … }
//		receive(c) // and try again
//	}
//
// # Guarantees
//
// Messages from one node to another over one channel arrive once and in the order in which they were sent. Memory for
// messages is bounded by [Config] however many nodes there are: a message that finds no room is refused by its receiver, its
// sender holds back what follows, and sends it again when the receiver asks for it (modified ACK/NACK). What is written
// or read by handle goes straight between locked memory of two nodes, without the other program's help.
//
// # The original's calls
//
//	pmOpenContext, pmCloseContext    Open, Context.Close
//	pmGetSelf, pmGetNodeList         Context.Self, Context.Nodes
//	pmGetMtu                         MTU
//	pmGetSendBuffer                  Context.GetSendBuffer
//	pmTruncateBuffer                 Context.Truncate
//	pmSend, pmIsSendDone             Context.Send, Context.SendDone
//	pmReceive                        Context.Receive
//	pmReleaseReceiveBuffer           Context.ReleaseReceiveBuffer
//	pmMLock, pmMUnlock               Context.MLock, Context.MUnlock
//	pmWrite, pmIsWriteDone           Context.Write, Context.WriteDone
//	pmRead, pmIsReadDone             Context.Read, Context.ReadDone
//	pmGetFd, pmBeforeSelect          Context.BeforeSelect
//	pmAfterSelect                    Context.AfterSelect
//	pmSaveContext, pmRestoreContext  Context.Save, Context.Restore
//
// Its codes: ENOBUFS, and EBUSY of the done-tests, are weft.ErrWouldBlock; EBUSY is [ErrBusy]; EINVAL weft.ErrRank or a
// weft.ConfigError; ENOENT [ErrHandle]; ENOSPC [ErrSpace]; ENOSYS errors.ErrUnsupported; EIO of a release [ErrNoBuffer];
// EPIPE weft.ErrPeer.
//
// # Network preemption
//
// A gang scheduler lets programs take turns on the same nodes and the same channel. At the end of a turn all nodes freeze the
// context, which flushes it: fences that follow what was sent are answered, so that nothing is in the network any more. When all
// have done so, they save what is in the buffers, restore what another program had there, and go on: [Context.Switch]. The state is a
// value that can be written down. A message that was sent once arrives once, however often its program was preempted in between.
//
// A context that is frozen refuses to send and to receive with an error that matches weft.ErrFrozen; a state that is damaged, or of
// another job, node or channel, is refused with a weft.SavedError; a node that dies in a switch ends it at the others with an error
// that matches weft.ErrPeer, and they may freeze the context again, switch among themselves, and go on.
//
// # What differs
//
// Receive says from which node a message is, which the original leaves to the program. Every context, not only a composite
// one, has one send buffer and one received message out at a time: the lock is the same for all. The longest message has
// 32 KiB, since that is what weft carries without asking. MLock makes the memory that it locks, and MUnlock gives it back at
// once: there is no pin-down cache, as nothing is pinned. A composite context is made of contexts that are open, by [Compose].
// Discard, Wait, Add, Freeze, Thaw and
// Switch are additions: SCore-D froze and flushed contexts by means of its own. Messages of up to 256 bytes are copied on their way
// rather than written and read where they travel, which takes less time.
//
// # Source
//
// H. Tezuka, A. Hori, Y. Ishikawa and M. Sato, "PM: An Operating System Coordinated High Performance Communication
// Library" (HPCN 1997), and the manual pages of SCore 5 for PM-II. How a context is flushed is reconstructed: see PROTOCOL §3.5.
package pm
