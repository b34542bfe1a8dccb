// Package stream is net.Conn and net.Listener through shared memory: existing Go
// programs, gRPC, net/http, net/rpc and what else asks for a Listener and a Dialer, talk to
// other processes of the same host without system calls while both are busy.
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
// No launcher and no job is needed. The address is the path of a Unix socket, where both
// processes meet: its permissions and the kernel's word on who is at the other end
// (Config.Allow) are the access control. The memory is passed over it as a descriptor, so
// that nothing is left behind however a process ends.
//
// # A connection
//
// Each direction is a ring of bytes. Write copies into it and returns; Read copies out of
// it. At first a ring uses 16 KiB, and it grows to Config.Buffer when it has been full.
// When there is no more room, Write waits: memory is bounded, and so is how far a writer
// is ahead. CloseWrite and CloseRead end one direction. A peer's Close is io.EOF to a
// reader and EPIPE to a writer; its death, also by SIGKILL, is ECONNRESET to a reader, at
// once and after what it had written, and EPIPE to a writer, at the latest when the ring is full.
//
// WriteTo and ReadFrom, which io.Copy uses, copy once: from the ring, or into it.
//
// # Polling and sleeping
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
// # What it is not
//
// Both ends must use this package, on one Linux host: the socket alone carries no data.
// weft proxy joins such connections to TCP and Unix sockets, for all others.
package stream
