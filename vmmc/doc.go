// Package vmmc is virtual memory-mapped communication (VMMC-2) on package weft: a process exports memory,
// other processes import it, and then send straight into it. There is no receive call and no system
// buffer in between, so there is no flow control either.
//
// An [Endpoint] is one rank's end. The owner of a buffer calls [Endpoint.Export], and says which ranks
// may import it. Another rank calls [Endpoint.Import], which fails unless the rank may. [Import.Send] then
// writes at an offset. With [Import.SendNotify] the sender has the handler of the export called when the
// data is in place; the owner holds such notifications back with [Endpoint.BlockNotifications].
// [Export.Unexport] ends an export that no rank imports, [Export.Revoke] any export.
//
// # What is guaranteed
//
// The data of one rank's sends to another rank arrives in the order of the sends. So a word that is sent
// last shows that all earlier data has arrived ([Export.Await]). Nothing is lost while both ranks live,
// and a send that fails returns the reason. When Send returns the source may be reused; [Import.Flush]
// returns when everything that was sent is in place. A notification is handled after the data of its send
// has arrived, and the notifications of one rank are handled in the order of its sends. A send beyond the
// end of the export is refused by the sender's endpoint, and checked again at the owner.
//
// Only the ranks that are permitted can attach to the memory, map it, or write to it by packets,
// whatever their programs do: the owner checks that (weft.RegionConfig.Ranks). On one host an import is a
// mapping of the export and of nothing else. Processors cannot map memory for writing alone, so a rank
// that imports an export can also read it.
//
// # Redirection
//
// A sender always names a place in the export. With [Export.Redirect] the owner has the next transfer to
// that place written to other memory of its own, without a copy in between. The call races with the data:
// bytes that have already arrived in the export are copied, bytes that arrive later go straight to the
// other memory, and [Landing.Direct] tells how many those were. For that purpose the owner's endpoint takes
// part in each transfer to an export that can be redirected ([ExportConfig.Redirections]), and decides
// where each piece goes when the piece arrives. Transfers to other exports need no help of the owner.
//
// # The calls of the original
//
//	export, unexport                Endpoint.Export, Export.Unexport; Export.Revoke if imports are to end
//	import, unimport                Endpoint.Import, Import.Close
//	send, synchronous               Import.Send
//	send, asynchronous; check       Import.StartSend; Transfer.Done, Transfer.Wait
//	send with notification          Import.SendNotify, or notify of StartSend
//	notification handler            ExportConfig.Notify
//	block, unblock notifications    Endpoint.BlockNotifications, Endpoint.UnblockNotifications
//	transfer redirection            Export.Redirect, Redirection.Wait
//
// # What differs
//
// Export makes the memory that it exports, under a name: weft shares only memory that it has made. The
// buffers of senders and of redirections may be any memory, as with the user-managed TLB of VMMC-2, and
// nothing is pinned. Import waits until the name is exported. The owner's endpoint checks permissions;
// there is no daemon. Notification handlers run one at a time on a goroutine of the endpoint rather than
// as signals. There is no automatic update, which needs hardware that sees each store.
//
// # Sources
//
// [Dubnicki96] for VMMC, [Dubnicki97] for VMMC-2 and redirection; [Konishi97] compares VMMC with three
// other libraries. docs/REFERENCES.md has the titles.
//
// Tested in this directory: vmmc_test.go and redirect_test.go in all kinds of jobs, ends_test.go with
// ranks that end, seeds_test.go with random programs under faults, alloc_test.go the data path.
package vmmc
