/* Completion queues, which are read without a call of the core while there is something in them. */
#include "provider.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#define MANY_IDLE 64 /* reads, after which one that finds nothing lets other threads run */

/* The next entry, or NULL. The lock is held. */
static struct weft_entry *first(struct weft_ring *r)
{
	struct weft_entry *entries = (struct weft_entry *)(r + 1);

	if (r->head == __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE))
		return NULL;
	return &entries[r->head & (r->size - 1)];
}

static void took(struct weft_ring *r) { __atomic_store_n(&r->head, r->head + 1, __ATOMIC_RELEASE); }

static size_t write_entry(enum fi_cq_format format, void *to, const struct weft_entry *e)
{
	struct fi_cq_tagged_entry full = { (void *)e->context, e->flags, e->len, (void *)e->buf, e->data, e->tag };
	size_t size = 0;

	switch (format) {
	case FI_CQ_FORMAT_CONTEXT:
		size = sizeof(struct fi_cq_entry);
		break;
	case FI_CQ_FORMAT_MSG:
		size = sizeof(struct fi_cq_msg_entry);
		break;
	case FI_CQ_FORMAT_DATA:
		size = sizeof(struct fi_cq_data_entry);
		break;
	default:
		size = sizeof full;
	}
	memcpy(to, &full, size); /* the shorter ones begin as the longest one */
	return size;
}

static ssize_t take(struct weft_cq *cq, char *buf, size_t count, fi_addr_t *from)
{
	struct weft_entry *e;
	size_t n = 0;

	pthread_mutex_lock(&cq->reading);
	while (n < count && (e = first(cq->ring)) && !e->err) {
		buf += write_entry(cq->format, buf, e);
		if (from)
			from[n] = e->source;
		took(cq->ring);
		n++;
	}
	e = first(cq->ring);
	pthread_mutex_unlock(&cq->reading);
	if (n)
		return n;
	return e && e->err ? -FI_EAVAIL : -FI_EAGAIN;
}

void progress(struct bound *b)
{
	int i;

	for (i = 0; i < b->count; i++)
		if (b->ep[i]->handle >= 0)
			core.progress(b->ep[i]->handle);
}

static ssize_t read_from(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *from)
{
	struct weft_cq *cq = container_of(fid, struct weft_cq, fid);
	ssize_t n = take(cq, buf, count, from);

	if (n != -FI_EAGAIN) {
		cq->idle = 0;
		return n;
	}
	progress(&cq->bound);
	if (!count)
		return -FI_EAGAIN;
	n = take(cq, buf, count, from);
	if (n != -FI_EAGAIN)
		cq->idle = 0;
	else if (++cq->idle > MANY_IDLE)
		sched_yield(); /* a peer may want the processor */
	return n;
}

static ssize_t read_cq(struct fid_cq *fid, void *buf, size_t count) { return read_from(fid, buf, count, NULL); }

static ssize_t read_error(struct fid_cq *fid, struct fi_cq_err_entry *to, uint64_t flags)
{
	struct weft_cq *cq = container_of(fid, struct weft_cq, fid);
	struct weft_entry *e;
	ssize_t n = -FI_EAGAIN;

	pthread_mutex_lock(&cq->reading);
	e = first(cq->ring);
	if (e && e->err) {
		to->op_context = (void *)e->context;
		to->flags = e->flags;
		to->len = e->len;
		to->buf = (void *)e->buf;
		to->data = e->data;
		to->tag = e->tag;
		to->olen = e->over;
		to->err = e->err;
		to->prov_errno = e->err;
		to->err_data_size = 0;
		took(cq->ring);
		n = 1;
	}
	pthread_mutex_unlock(&cq->reading);
	return n;
}

long long milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static ssize_t wait_from(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *from, const void *cond, int timeout)
{
	long long end = milliseconds() + timeout;
	ssize_t n;

	while ((n = read_from(fid, buf, count, from)) == -FI_EAGAIN)
		if (timeout >= 0 && milliseconds() >= end)
			break;
	return n;
}

static ssize_t wait_cq(struct fid_cq *fid, void *buf, size_t count, const void *cond, int timeout)
{
	return wait_from(fid, buf, count, NULL, cond, timeout);
}

static int no_signal(struct fid_cq *fid) { return -FI_ENOSYS; }

static const char *cq_error(struct fid_cq *fid, int err, const void *data, char *buf, size_t len)
{
	const char *text = fi_strerror(err);

	if (buf && len)
		snprintf(buf, len, "%s", text);
	return text;
}

static struct fi_ops_cq cq_ops = {
	.size = sizeof cq_ops,
	.read = read_cq,
	.readfrom = read_from,
	.readerr = read_error,
	.sread = wait_cq,
	.sreadfrom = wait_from,
	.signal = no_signal,
	.strerror = cq_error,
};

static int close_cq(struct fid *fid)
{
	struct weft_cq *cq = container_of(fid, struct weft_cq, fid.fid);

	if (cq->bound.count)
		return -FI_EBUSY;
	free(cq->ring);
	free(cq->bound.ep);
	free(cq);
	return 0;
}

static struct fi_ops cq_fid_ops = { sizeof cq_fid_ops, close_cq, no_bind, no_control, no_ops };

int weft_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **fid, void *context)
{
	size_t size = 1024;
	struct weft_cq *cq;

	if (attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC)
		return -FI_ENOSYS;
	cq = calloc(1, sizeof *cq);
	if (!cq)
		return -FI_ENOMEM;
	while (size < attr->size && size < 1 << 20)
		size *= 2;
	cq->ring = calloc(1, sizeof *cq->ring + size * sizeof(struct weft_entry));
	if (!cq->ring) {
		free(cq);
		return -FI_ENOMEM;
	}
	cq->ring->size = size;
	cq->format = attr->format;
	pthread_mutex_init(&cq->reading, NULL);
	pthread_mutex_init(&cq->bound.lock, NULL);
	cq->fid.fid = (struct fid){ FI_CLASS_CQ, context, &cq_fid_ops };
	cq->fid.ops = &cq_ops;
	*fid = &cq->fid;
	return 0;
}
