// Package pm is PM on package weft: the communication library of the RWC project for clusters, with
// the calls of PM-II [Tezuka97].
//
// A program asks for a send buffer, fills it in place, and sends it; it receives a message where it
// lies in memory, and gives it back. No call waits, except Wait and the first use of a memory handle:
// a call that cannot go on returns weft.ErrWouldBlock, and the program tries again. In between the
// program must receive, because the nodes for which it waits may be waiting for room at this node.
// That duty of the caller keeps programs from deadlocking.
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
// Messages from one node to another over one channel arrive once and in the order in which they were
// sent. [Config] bounds the memory for messages, however many nodes there are: the receiver refuses a
// message for which it has no room, and the sender holds back what follows and sends again when the
// receiver asks for it (PM's modified ACK/NACK flow control). Write and Read move bytes straight
// between the locked memory of two nodes, without help of the other node's program.
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
// weft.ConfigError; ENOENT [ErrHandle]; ENOSPC [ErrSpace]; ENOSYS errors.ErrUnsupported; EIO of a
// release [ErrNoBuffer];
// EPIPE weft.ErrPeer.
//
// # Network preemption
//
// A gang scheduler lets programs take turns on the same nodes and the same channel. At the end of a
// turn all nodes freeze the context. That flushes it: each node sends fences behind its messages, and
// when they are answered nothing is in the network any more. Then all nodes save the contents of the
// buffers, restore those of another program, and go on: [Context.Switch]. The state is a value that can
// be written to a file. A message arrives once, however often its program is preempted.
//
// A frozen context refuses to send and to receive with an error that matches weft.ErrFrozen. A state
// that is damaged, or belongs to another job, node or channel, is refused with a weft.SavedError. If a
// node dies during a switch, the other nodes get an error that matches weft.ErrPeer; they may freeze
// the context again, switch among themselves, and go on.
//
// # What differs
//
// Receive returns the node that sent the message, which the original leaves to the program. Every
// context, not only a composite one, has at most one send buffer in use at a time; a program may hold
// MaxHeld received messages, and gives them back in their order. The longest message has 32 KiB, since
// weft sends longer ones only when the receiver asks for them. MLock makes the memory that it locks,
// and MUnlock gives it back at once; there is no pin-down cache, as nothing is pinned. [Compose] makes
// a composite context from open contexts. Discard, Wait, Add, Freeze, Thaw and Switch are additions:
// SCore-D had means of its own to freeze and flush contexts. Messages of up to 256 bytes are copied
// rather than written and read in place, which takes less time.
//
// # Source
//
// [Tezuka97], with the manual pages of SCore 5 for PM-II; docs/REFERENCES.md has the title. How a
// context is flushed is reconstructed: see PROTOCOL §3.5.
//
// Tested in this directory: pm_test.go has the calls in all kinds of jobs, gang_test.go the switches
// under faults, noalloc_test.go the data path.
package pm
