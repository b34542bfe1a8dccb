/* The functions of the core, which core.c loads. */
#ifndef WEFT_CORE_H
#define WEFT_CORE_H

#include "weft.h"

struct weft_core {
	int (*open)(uintptr_t domain, struct weft_report *report, void *name, char *text, size_t size);
	void (*close)(int handle);
	int (*insert)(int handle, uint64_t addr, void *name, char *text, size_t size);
	void (*progress)(int handle);
	int (*send)(int handle, uint32_t how, uint64_t to, uint64_t tag, uint64_t data, void *buf, size_t n,
		    uintptr_t context);
	int (*receive)(int handle, uint32_t how, uint64_t from, uint64_t tag, uint64_t ignore, void *buf, size_t n,
		       size_t least, uintptr_t context);
	void (*cancel)(int handle, uintptr_t context);
	int (*access)(int handle, struct weft_access *access);
	int (*reg)(uintptr_t domain, uint64_t key, void *base, uint64_t size, uint64_t access);
	int (*count)(uintptr_t domain, uint64_t key, struct weft_counter *writes);
	void (*dereg)(uintptr_t domain, uint64_t key);
};

extern struct weft_core core;

/* core_load loads the core if that has not been done, and returns 0 or why it cannot be. */
const char *core_load(void);

#endif
