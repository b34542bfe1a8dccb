// Package wireshark is the place of weft.lua, which shows weft's packets in
// Wireshark and tshark, and of its test.
package wireshark
