/*
 * Loads the core. It has the runtime of Go with it, so it is loaded when a program opens the fabric, and not into the
 * many processes that only ask which providers there are. Its threads must not run the program's handlers of signals,
 * which may need more stack than they have: so all signals but those of faults are blocked while they start.
 */
#define _GNU_SOURCE
#include "core.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct weft_core core;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static char why[8192];

static const struct {
	const char *name;
	void **function;
} functions[] = {
	{ "weft_open", (void **)&core.open },         { "weft_close", (void **)&core.close },
	{ "weft_insert", (void **)&core.insert },     { "weft_progress", (void **)&core.progress },
	{ "weft_send", (void **)&core.send },         { "weft_receive", (void **)&core.receive },
	{ "weft_cancel", (void **)&core.cancel },     { "weft_access", (void **)&core.access },
	{ "weft_register", (void **)&core.reg },      { "weft_deregister", (void **)&core.dereg },
	{ "weft_count", (void **)&core.count },
};

/* The core lies beside this library. */
static const char *load(void)
{
	Dl_info self;
	char path[4096];
	size_t i;

	if (!dladdr((void *)&core, &self) || !strrchr(self.dli_fname, '/'))
		return "weft: the directory of the provider is not known";
	snprintf(path, sizeof path, "%.*s/libweftcore.so", (int)(strrchr(self.dli_fname, '/') - self.dli_fname),
		 self.dli_fname);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(why, sizeof why, "weft: %s", dlerror());
		return why;
	}
	for (i = sizeof functions / sizeof *functions; i-- > 0;) {
		*functions[i].function = dlsym(library, functions[i].name);
		if (!*functions[i].function) {
			snprintf(why, sizeof why, "weft: %s has no %s", path, functions[i].name);
			return why;
		}
	}
	return NULL;
}

const char *core_load(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGURG };
	sigset_t all, before;
	const char *err = NULL;
	size_t i;

	pthread_mutex_lock(&loading);
	if (!core.open) {
		sigfillset(&all);
		for (i = 0; i < sizeof faults / sizeof *faults; i++)
			sigdelset(&all, faults[i]);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		err = load();
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	pthread_mutex_unlock(&loading);
	return err;
}
