/* Event queues. The provider tells nothing by them: in them is what the program writes. */
#include "provider.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct event {
	struct event *next;
	uint32_t what;
	size_t len;
	char data[];
};

struct weft_eq {
	struct fid_eq fid;
	pthread_mutex_t lock;
	struct event *first, **last;
	int fd; /* readable while there are events */
};

static void say_fd(int fd, int readable)
{
	eventfd_t v;

	while ((readable ? eventfd_write(fd, 1) : eventfd_read(fd, &v)) && errno == EINTR)
		;
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *what, void *buf, size_t len, uint64_t flags)
{
	struct weft_eq *q = container_of(fid, struct weft_eq, fid);
	ssize_t n = -FI_EAGAIN;
	struct event *e;

	pthread_mutex_lock(&q->lock);
	e = q->first;
	if (e && len < e->len) {
		n = -FI_ETOOSMALL;
	} else if (e) {
		n = e->len;
		*what = e->what;
		memcpy(buf, e->data, n);
	}
	if (n >= 0 && !(flags & FI_PEEK)) {
		q->first = e->next;
		free(e);
		if (!q->first) {
			q->last = &q->first;
			say_fd(q->fd, 0);
		}
	}
	pthread_mutex_unlock(&q->lock);
	return n;
}

static ssize_t eq_write(struct fid_eq *fid, uint32_t what, const void *buf, size_t len, uint64_t flags)
{
	struct weft_eq *q = container_of(fid, struct weft_eq, fid);
	struct event *e = malloc(sizeof *e + len);

	if (!e)
		return -FI_ENOMEM;
	e->next = NULL;
	e->what = what;
	e->len = len;
	memcpy(e->data, buf, len);
	pthread_mutex_lock(&q->lock);
	if (!q->first)
		say_fd(q->fd, 1);
	*q->last = e;
	q->last = &e->next;
	pthread_mutex_unlock(&q->lock);
	return len;
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *what, void *buf, size_t len, int timeout, uint64_t flags)
{
	struct weft_eq *q = container_of(fid, struct weft_eq, fid);
	struct pollfd p = { .fd = q->fd, .events = POLLIN };

	if (poll(&p, 1, timeout) < 0)
		return -errno;
	return eq_read(fid, what, buf, len, flags);
}

static ssize_t eq_readerr(struct fid_eq *q, struct fi_eq_err_entry *e, uint64_t f) { return -FI_EAGAIN; }
static const char *eq_error(struct fid_eq *q, int err, const void *d, char *b, size_t n) { return fi_strerror(err); }

static struct fi_ops_eq eq_ops = { sizeof eq_ops, eq_read, eq_readerr, eq_write, eq_sread, eq_error };

static int close_eq(struct fid *fid)
{
	struct weft_eq *q = container_of(fid, struct weft_eq, fid.fid);
	struct event *e;

	while ((e = q->first)) {
		q->first = e->next;
		free(e);
	}
	close(q->fd);
	free(q);
	return 0;
}

static int control_eq(struct fid *fid, int command, void *arg)
{
	if (command != FI_GETWAIT)
		return -FI_ENOSYS;
	*(int *)arg = container_of(fid, struct weft_eq, fid.fid)->fd;
	return 0;
}

static struct fi_ops eq_fid_ops = { sizeof eq_fid_ops, close_eq, no_bind, control_eq, no_ops };

int weft_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **fid, void *context)
{
	struct weft_eq *q;

	if (attr && attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC && attr->wait_obj != FI_WAIT_FD)
		return -FI_ENOSYS;
	q = calloc(1, sizeof *q);
	if (!q)
		return -FI_ENOMEM;
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->fd < 0) {
		free(q);
		return -errno;
	}
	pthread_mutex_init(&q->lock, NULL);
	q->last = &q->first;
	q->fid.fid = (struct fid){ FI_CLASS_EQ, context, &eq_fid_ops };
	q->fid.ops = &eq_ops;
	*fid = &q->fid;
	return 0;
}

/* A program may sleep on the descriptors if no event queue has an event. Completion queues have none. */
int weft_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		struct weft_eq *q = container_of(fids[i], struct weft_eq, fid.fid);
		struct event *first;

		if (fids[i]->fclass != FI_CLASS_EQ)
			return -FI_ENOSYS;
		pthread_mutex_lock(&q->lock);
		first = q->first;
		pthread_mutex_unlock(&q->lock);
		if (first)
			return -FI_EAGAIN;
	}
	return 0;
}
