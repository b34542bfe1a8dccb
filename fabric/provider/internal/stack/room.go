// Package stack makes room on the stack of a goroutine. A thread of C that calls Go runs on such a stack meanwhile, and
// so does a handler of signals that the program has installed without SA_ONSTACK, as most programs do. The kernel puts
// the registers there first, several KiB; then the handler takes what it takes. On the 8 KiB that a goroutine begins
// with, that destroys what lies below.
//
// Tested in package provider: a program of MPI whose handler takes 64 KiB is interrupted a thousand times a second.
package stack

// Room makes sure that 256 KiB are free. Where they are it takes three instructions. The garbage collector may halve a
// stack of which a quarter is used, so each call of C begins with it.
func Room()
