// Package wire turns frames into bytes and back (PROTOCOL §2.1, §3, §4, §5).
//
// Every frame is a struct with an Append method and a Parse function. Append
// writes into the spare capacity that it is given. Parse checks the length,
// the type, and that what is reserved is zero; payloads are returned as slices
// of the input. Neither allocates.
package wire
