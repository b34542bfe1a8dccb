/* Counters, which the core moves. */
#include "provider.h"

#include <sched.h>
#include <time.h>

static struct weft_cntr *of(struct fid_cntr *fid) { return container_of(fid, struct weft_cntr, fid); }

static uint64_t look(struct fid_cntr *fid, uint64_t *value)
{
	progress(&of(fid)->bound);
	return __atomic_load_n(value, __ATOMIC_ACQUIRE);
}

static uint64_t cntr_read(struct fid_cntr *c) { return look(c, &of(c)->value.ended); }
static uint64_t cntr_readerr(struct fid_cntr *c) { return look(c, &of(c)->value.failed); }

static int change(uint64_t *to, uint64_t v, int set)
{
	if (set)
		__atomic_store_n(to, v, __ATOMIC_RELEASE);
	else
		__atomic_fetch_add(to, v, __ATOMIC_RELEASE);
	return 0;
}

static int cntr_add(struct fid_cntr *c, uint64_t v) { return change(&of(c)->value.ended, v, 0); }
static int cntr_set(struct fid_cntr *c, uint64_t v) { return change(&of(c)->value.ended, v, 1); }
static int cntr_adderr(struct fid_cntr *c, uint64_t v) { return change(&of(c)->value.failed, v, 0); }
static int cntr_seterr(struct fid_cntr *c, uint64_t v) { return change(&of(c)->value.failed, v, 1); }

static int cntr_wait(struct fid_cntr *c, uint64_t threshold, int timeout)
{
	uint64_t failed = cntr_readerr(c);
	long long end = milliseconds() + timeout;

	while (cntr_read(c) < threshold) {
		if (__atomic_load_n(&of(c)->value.failed, __ATOMIC_ACQUIRE) != failed)
			return -FI_EAVAIL;
		if (timeout >= 0 && milliseconds() >= end)
			return -FI_ETIMEDOUT;
		sched_yield();
	}
	return 0;
}

static struct fi_ops_cntr cntr_ops = { sizeof cntr_ops, cntr_read, cntr_readerr, cntr_add, cntr_set,
				       cntr_wait,	cntr_adderr, cntr_seterr };

static int close_cntr(struct fid *fid)
{
	struct weft_cntr *c = container_of(fid, struct weft_cntr, fid.fid);

	if (c->bound.count)
		return -FI_EBUSY;
	free(c->bound.ep);
	free(c);
	return 0;
}

static struct fi_ops cntr_fid_ops = { sizeof cntr_fid_ops, close_cntr, no_bind, no_control, no_ops };

int weft_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **fid, void *context)
{
	struct weft_cntr *c;

	if (attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC)
		return -FI_ENOSYS;
	c = calloc(1, sizeof *c);
	if (!c)
		return -FI_ENOMEM;
	pthread_mutex_init(&c->bound.lock, NULL);
	c->fid.fid = (struct fid){ FI_CLASS_CNTR, context, &cntr_fid_ops };
	c->fid.ops = &cntr_ops;
	*fid = &c->fid;
	return 0;
}
