// Package stream gives existing Go programs, gRPC, net/http, net/rpc and what else asks for a
// Listener and a Dialer, connections of weft as they are: net.Conn and net.Listener in full.
//
//	l, err := stream.Listen(ctx, "/run/app.sock")     // a net.Listener
//	err = http.Serve(l, handler)
//
//	client := http.Client{Transport: &http.Transport{
//		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
//			return stream.Dial(ctx, "/run/app.sock")
//		},
//	}}
//
// There are three kinds. [Listen] and [Dial] need no launcher and no job; what the address looks
// like says which of the first two it is.
//
//	a path        processes of a host, through shared memory     [Conn]
//	host:port     processes of any hosts, TLS over TCP           [TLSConn]
//	[Over]        ranks of a job, over the job's transports      [RankConn]
//
// All of them have deadlines that also end calls under way, half close, a Close that ends the
// calls of both ends, and bounded memory: a writer waits for its reader. A peer's Close
// is io.EOF to a reader and EPIPE to a writer. A peer's death is ECONNRESET to a reader, never
// io.EOF, after what it had written.
//
// # On one host
//
// The address is the path of a Unix socket, where both processes meet: its permissions and
// the kernel's word on who is at the other end (Config.Allow) are the access control. The
// memory is passed over it as a descriptor, so that nothing is left behind however a process
// ends. While both sides are busy no call is a system call.
//
// Each direction is a ring of bytes. Write copies into it and returns; Read copies out of
// it. At first a ring uses 16 KiB, and it grows to Config.Buffer when it has been full. A ring
// that has grown and into which nothing has been written for a second gives its memory back.
// When there is no more room, Write waits: memory is bounded, and so is how far a writer
// is ahead. A peer's death, also by SIGKILL, is known at once.
//
// WriteTo and ReadFrom, which io.Copy uses, copy once: from the ring, or into it.
//
// A call that must wait does so in three steps, each of which it leaves when there is
// something to do:
//
//   - It polls the ring, for Config.Spin at most, and lets other goroutines run meanwhile.
//     A connection on which waits have lasted longer lately polls down to a sixteenth of that. No
//     more goroutines of a process poll than it may use processors; with one processor none
//     does. An exchange in which both sides poll costs two or three cache lines each way.
//   - With Config.Nap it naps: it sleeps in the kernel, on a word in the shared memory. It
//     is woken faster, and holds a thread.
//   - It sleeps in Go's netpoller until the peer sends a byte on the Unix socket, or ends.
//     That holds no thread and costs no processor time: thousands of connections that
//     are mostly idle are a goroutine, a descriptor and 4 KiB each.
//
// The peer makes a system call only to wake one that naps or sleeps.
//
// # Between hosts
//
// A connection is TLS 1.3 over TCP, by the user's Config.TLS or under a Config.Key that both
// sides know; without one of them nothing is sent at all. The peer has proved who it is when
// Dial and Accept return. Strangers have ten seconds, less while there are many, and the oldest
// makes room for the next. docs/decisions tells why it is TCP.
//
// # Inside a job
//
// [Over] makes a network of connections among the ranks of a job, over shared memory, raw
// Ethernet, UDP, TCP, or the simulator: unmodified servers and clients run on a simulated
// cluster that loses packets. Bytes are messages of one channel; a connection grants its peer
// Config.Buffer bytes, and holds no memory while nothing waits to be read.
//
// # What it is not
//
// Both ends must use this package: on one host the socket alone carries no data, and a TLS
// client of others is not greeted as it expects. weft proxy joins such connections to TCP and
// Unix sockets, for all others.
package stream
