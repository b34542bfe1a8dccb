// Package stream gives programs that ask for a net.Listener and a dialer, such as gRPC, net/http and
// net/rpc, connections of weft: net.Conn and net.Listener in full.
//
//	l, err := stream.Listen(ctx, "/run/app.sock") // a net.Listener
//	err = http.Serve(l, handler)
//
//	client := http.Client{Transport: &http.Transport{
//		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
//			return stream.Dial(ctx, "/run/app.sock")
//		},
//	}}
//
// There are three kinds of connections. [Listen] and [Dial] need neither a launcher nor a job; the
// form of the address selects one of the first two kinds.
//
//	address       connects                                                connection
//	a path        processes of one host, through shared memory            [Conn]
//	host:port     processes of any hosts, by TLS 1.3 over TCP             [TLSConn]
//	[Open]        ranks of a job, over the transports of the job          [RankConn]
//
// All three have deadlines that also end calls that already wait, half close, a Close that ends the
// waiting calls of both ends, and flow control: a writer waits for its reader, so memory is bounded.
// After a peer's Close a reader gets io.EOF and a writer EPIPE. After a peer's death a reader gets
// what the peer had written, and then ECONNRESET. On one host it is io.EOF, as on a Unix socket, unless the dead had
// not read all that was written to it: a protocol that must know the difference says in its bytes where they end.
//
// # On one host
//
// The address is the path of a Unix socket, over which the two processes meet. The permissions of the
// socket's file and the kernel's information about the other process (Config.Allow) are the access
// control. A connection begins on the socket, and moves into shared memory when it has carried 64 KiB
// within 20 ms, where each call counts for 2 KiB besides its bytes. The listener passes the memory as a descriptor over
// the socket, so nothing is left behind however a process ends. From then on, while both sides are busy, no call makes
// a system call. What follows is about connections that have moved.
//
// Each direction is a ring of bytes. Write copies into the ring and returns; Read copies out of it. A
// ring begins with 16 KiB, and grows up to Config.Buffer when it has been full. A ring that has grown
// gives its memory back when nothing has been written into it for a second. When a ring is full, Write
// waits. The death of a peer, also by SIGKILL, is known at once.
//
// WriteTo and ReadFrom, which io.Copy uses, copy once: from the ring, or into it.
//
// A call that must wait takes three steps, and leaves each step when there is something to do:
//
//   - It polls the ring, for Config.Spin at most, and lets other goroutines run meanwhile. A
//     connection whose recent waits have lasted longer polls for a shorter time, down to a sixteenth.
//     The number of goroutines of a process that poll is at most the number of its processors; if both
//     processes have one and the same, none polls. When both sides poll, an exchange moves two or three
//     cache lines each way.
//   - It naps, for Config.Nap at most, if no other goroutine could run: it sleeps in the kernel, on a
//     futex in the shared memory. That wakes it sooner than the third step, and holds a thread. The
//     number of goroutines of a process that nap is at most GOMAXPROCS less one.
//   - It sleeps in Go's netpoller until the peer sends a byte on a socket, or ends. That holds
//     no thread and takes no processor time. A connection that is mostly idle costs a goroutine and a
//     descriptor, and 4 KiB if it has moved, so a process may have thousands.
//
// A process makes a system call only to wake a peer that naps or sleeps.
//
// # Between hosts
//
// A connection is TLS 1.3 over TCP, with the user's Config.TLS or with a Config.Key that both sides
// know. Without either nothing is sent. When Dial and Accept return, the peer has been authenticated.
// A handshake may take ten seconds, or less while many are in progress; if there are too many, the
// oldest is dropped. docs/decisions explains why these connections use TCP.
//
// # Inside a job
//
// [Open] makes a network of connections among the ranks of a job, over shared memory, raw Ethernet,
// UDP, TCP, or the simulator: unmodified servers and clients run on a simulated cluster that loses
// packets. The bytes travel as messages of one channel. A connection lets its peer be Config.Buffer
// bytes ahead, and holds no memory while nothing waits to be read.
//
// # Limits
//
// On one host each end takes programs without this package at the other; those connections stay on the Unix socket. A
// connection that its process may not map, or that its kernel has no room for, stays there as well. Between
// hosts a listener does not answer a TLS client of another package in the way that the client
// expects. The command weft proxy joins these connections to TCP and Unix sockets for other programs.
//
// Tested in this directory (model_test.go searches all interleavings of the waiting protocol, and
// nettest checks all three kinds), and over every transport in streams_linux_test.go of package weft.
package stream
