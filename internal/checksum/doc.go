// Package checksum detects damaged packets by NH, the universal hash of UMAC [Black99] (RFC 4418 §5.2),
// under a public key.
//
// NH is a sum of products of two 32-bit numbers, none of which depends on another, so a processor handles
// 64 bytes at a time: a packet of 1,472 bytes takes a fifth of the time of a CRC-32C, which would take
// longer than all other work for such a packet. Random damage goes unnoticed once in 2^32 times, as with
// a 32-bit CRC. The checksum protects against accidents, but not against an attacker.
//
// Tested in this directory, against a plain implementation.
package checksum
