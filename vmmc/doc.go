// Package vmmc is virtual memory-mapped communication, VMMC-2, on weft: a process exports memory, others import it,
// and then send straight into it. There is no receive call and no buffer of the system in between, so there is nothing
// to control the flow of.
//
// An [Endpoint] is a rank's part in it. The owner of a buffer calls [Endpoint.Export], and says which ranks may import
// it; another calls [Endpoint.Import], which is refused unless it may. [Import.Send] then writes at an offset. The sender
// can ask with [Import.SendNotify] that the handler of the export is called when the data is in place; the owner holds
// notifications back with [Endpoint.BlockNotifications]. [Export.Unexport] ends an export that nobody imports,
// [Export.Revoke] any.
//
// # What is guaranteed
//
// What one rank sends to another is in place in the order of the sends, so a word that is sent last says that all is
// there ([Export.Await]). Nothing is lost while both live: a send comes to an error that says why. When Send returns the
// source may be used again; [Import.Flush] returns when everything sent is in place. A notification is handled after the
// data of its send, and notifications of one rank in the order of the sends. A send that would leave the export is
// refused by the sender's endpoint, and again where the memory is.
//
// Only the ranks that are permitted can attach to the memory, map it, or write to it by packets, whatever their program
// does: weft checks that at the owner (weft.RegionConfig.Ranks). On one host an import is a mapping of the export and of
// nothing else. Since no processor maps memory for writing alone, whoever imports an export can read it as well.
//
// # Redirection
//
// A sender always names a place in the export. With [Export.Redirect] the owner has the next transfer to that place put
// into other memory of its own, without a copy in between. It is a race with the data, and the owner may lose it: what
// has landed in the export already is copied, what is still to come goes straight, and [Landing.Direct] tells how much
// that was. To that end the owner's endpoint takes part in transfers to an export that can be redirected
// ([ExportConfig.Redirections]): it says where each piece goes when the piece comes. Transfers to other exports need
// nobody's help.
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
// Memory is exported by a name, and made by Export: weft shares memory that it has made. The buffer of a sender, and that
// of a redirection, may be any memory, as with the user-managed TLB of VMMC-2, and nothing is pinned. Import waits until
// the name is exported. The check of permissions is made by the owner's endpoint, as there is no daemon to trust. Handlers
// run one at a time on a goroutine of the endpoint rather than as signals. There is no automatic update, which needs
// hardware that sees each store.
//
// Sources: C. Dubnicki, L. Iftode, E. Felten and K. Li, "Software Support for Virtual Memory-Mapped Communication" (IPPS
// 1996); C. Dubnicki, A. Bilas, Y. Chen, S. Damianakis and K. Li, "VMMC-2: Efficient Support for Reliable,
// Connection-Oriented Communication" (Hot Interconnects V, 1997); K. Konishi et al. compare it with three other libraries.
package vmmc
