// Package transporttest is the test that every transport must pass.
//
// A transport's own test calls Run with a function that opens ranks. What is
// tested is the contract of package transport: order and wholeness where
// Reliable promises them, back pressure, doorbells, deaths, and memory where
// Direct promises it. Packets may be lost where Reliable is false; they are damaged
// only by package faulty. Strangers tests the transports that have a handshake: what does
// not belong to the job is refused.
package transporttest
