// Package transporttest is the test that every transport must pass.
//
// A transport's own test calls Run with a function that opens ranks. What is
// tested is the contract of package transport: order and wholeness where
// Reliable promises them, back pressure, doorbells, deaths, and memory where
// Direct promises it. Loss is allowed where Reliable is false, damage is not
// made here: that is package faulty's work.
package transporttest
