/* What the part of the provider in C and the part in Go have in common. */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>
#include <stdint.h>

#define WEFT_NAME 64 /* bytes of a name; endpoint.NameSize */

/* The end of one operation; endpoint.Entry. */
struct weft_entry {
	uintptr_t context;
	uint64_t flags;
	uint64_t len;
	uintptr_t buf;
	uint64_t data;
	uint64_t tag;
	uint64_t source;
	uint64_t over;
	int32_t err;
	int32_t unused;
};

/* Entries on their way from Go to C, which follow it: size of them, a power of two. C moves head, Go tail. */
struct weft_ring {
	uint64_t head;
	uint64_t pad1[7];
	uint64_t tail;
	uint64_t pad2[7];
	uint64_t size;
	uint64_t pad3[7];
};

/* How many operations have ended, and how many have failed; endpoint.Counter. */
struct weft_counter {
	uint64_t ended, failed;
};

/* Where an endpoint tells of what has ended: rings and counters. */
struct weft_report {
	struct weft_ring *sent, *received;
	struct weft_counter *sends, *receives, *reads, *writes, *remote_reads, *remote_writes;
};

/* An access to memory of another endpoint; endpoint.Access. */
struct weft_access {
	uint32_t how;
	uint8_t verb, op, type;
	uint64_t to, key, at, data;
	const void *out, *with;
	void *in;
	size_t out_size, with_size, in_size;
	uintptr_t context;
};

enum { WEFT_WRITE, WEFT_READ, WEFT_ATOMIC };

/* How a message is sent or received. */
enum {
	WEFT_TAGGED = 1,
	WEFT_COMPLETES = 2,
	WEFT_DATA = 4,
	WEFT_SEVERAL = 8,
	WEFT_PEEK = 16,
	WEFT_CLAIM = 32,
	WEFT_DISCARD = 64,
	WEFT_DELIVERED = 128,
};

#endif
