// Package record records what goes into an engine: packets, operations, and the times of both. Package replay plays it
// back. An engine is a function of these, so a
// recording of a real run leads a debugger, or a panic, to the same line.
//
// What goes in is an Input. The driver hands it to an Engine, which notes it and applies it; a replay reads it and
// applies it by the same code. Inputs of the path of a message have methods of their own in place of a value:
// a value for each of them made a round trip over shared memory (BenchmarkPath) a tenth longer, 430 ns in place of 390.
//
// A recording is a line of JSON for each input. It holds the packets that came. Packets that
// were encrypted on the way are encrypted under a secret that is made for the recording and
// written in it, so that the owner of the file can read them. It holds neither the secret of
// the job nor the memory that was sent or written, on which no engine depends.
//
// Tested in file_test.go, and in package replay.
package record
