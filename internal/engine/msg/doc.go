// Package msg implements SEND/RECEIVE contexts, called ports here: ordered
// messages between the processes that have opened the same channel
// (PROTOCOL §3).
//
// Receive buffers are guarded by the modified ACK/NACK protocol of PM, as used
// for RHiNET: a message that finds no room is refused, the sender then holds
// back everything for that receiver, and resends when the receiver asks for it
// (GO) or after a back-off. So the memory of a port is bounded by its
// configuration, however fast its senders are.
//
// Short messages are copied into the sender's buffer, travel at once, and are
// kept until acknowledged. Long ones are announced, and fetched by the
// receiver when it has a place for them, straight into that place.
//
// A port can be frozen, flushed, saved and restored, as contexts of PM are when jobs take turns (PROTOCOL §3.5).
//
// The package is pure: it reads no clock and starts nothing. Frames go into
// link queues, finished operations onto a list.
//
// Tested in layer_test.go (two layers that talk to each other) and limits_test.go, where
// frames of peers come one by one, both with the rig of rig_test.go;
// pair_test.go (the states of a pair), recall_test.go and state_test.go (frozen and saved
// ports); with links between the ranks by the scenarios of package engine, and under faults by
// lab/stress.
package msg
