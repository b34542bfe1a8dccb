// Package checksum finds damage in packets: NH, the universal hash of UMAC (Black, Halevi,
// Krawczyk, Krovetz, Rogaway, "UMAC: Fast and Secure Message Authentication", CRYPTO 1999;
// RFC 4418 §5.2), under a key that everybody knows.
//
// It adds up products of two 32-bit numbers, none of which depends on another one, so that
// a processor takes 64 bytes at a time: a packet of 1,472 bytes takes a fifth of the time
// of a CRC-32C, which takes more than all else that is done for such a packet. Damage that
// does not know the key goes unnoticed once in 2^32 times, as with a CRC of 32 bits. It
// guards against accidents, and against nobody who means to deceive.
package checksum
