/* Address vectors: names of endpoints, by number. */
#include "provider.h"

void bind_to(struct bound *b, struct weft_ep *ep)
{
	struct weft_ep **more;
	int i;

	pthread_mutex_lock(&b->lock);
	for (i = 0; i < b->count && b->ep[i] != ep; i++)
		;
	more = i < b->count ? NULL : realloc(b->ep, (b->count + 1) * sizeof *more);
	if (more) {
		b->ep = more;
		b->ep[b->count++] = ep;
	}
	pthread_mutex_unlock(&b->lock);
}

void unbind(struct bound *b, struct weft_ep *ep)
{
	int i;

	pthread_mutex_lock(&b->lock);
	for (i = 0; i < b->count; i++)
		if (b->ep[i] == ep)
			b->ep[i--] = b->ep[--b->count];
	pthread_mutex_unlock(&b->lock);
}

static int tell(struct weft_ep *ep, fi_addr_t addr, void *name)
{
	char why[256] = "";
	int err = core.insert(ep->handle, addr, name, why, sizeof why);

	if (err)
		WARN(FI_LOG_AV, "%s\n", why);
	return err;
}

/* The caller holds the lock of av->bound. */
int weft_av_tell(struct weft_av *av, struct weft_ep *ep)
{
	size_t i;
	int err = 0;

	for (i = 0; i < av->count && !err; i++)
		err = tell(ep, i, av->names[i]);
	return err;
}

static int insert_one(struct weft_av *av, const char *name, fi_addr_t *addr)
{
	int i, err = 0;
	char(*more)[WEFT_NAME];

	if (!(av->count & (av->count - 1))) { /* room for powers of two */
		more = realloc(av->names, (av->count ? 2 * av->count : 1) * sizeof *more);
		if (!more)
			return -FI_ENOMEM;
		av->names = more;
	}
	memcpy(av->names[av->count], name, WEFT_NAME);
	for (i = 0; i < av->bound.count && !err; i++)
		if (av->bound.ep[i]->handle >= 0)
			err = tell(av->bound.ep[i], av->count, av->names[av->count]);
	if (!err)
		*addr = av->count++;
	return err;
}

static int insert(struct fid_av *fid, const void *names, size_t count, fi_addr_t *addrs, uint64_t flags, void *context)
{
	struct weft_av *av = container_of(fid, struct weft_av, fid);
	int done = 0;
	size_t i;

	pthread_mutex_lock(&av->bound.lock);
	for (i = 0; i < count; i++) {
		fi_addr_t addr = FI_ADDR_NOTAVAIL;
		int err = insert_one(av, (const char *)names + i * WEFT_NAME, &addr);

		if (addrs)
			addrs[i] = addr;
		if (flags & FI_SYNC_ERR)
			((int *)context)[i] = -err;
		done += !err;
	}
	pthread_mutex_unlock(&av->bound.lock);
	return done;
}

/* Numbers are not used again, and an endpoint may still send what was begun. */
static int forget(struct fid_av *fid, fi_addr_t *addrs, size_t count, uint64_t flags) { return 0; }

static int lookup(struct fid_av *fid, fi_addr_t addr, void *name, size_t *len)
{
	struct weft_av *av = container_of(fid, struct weft_av, fid);
	int err = 0;

	pthread_mutex_lock(&av->bound.lock);
	if (addr >= av->count)
		err = -FI_EINVAL;
	else
		memcpy(name, av->names[addr], *len < WEFT_NAME ? *len : WEFT_NAME);
	pthread_mutex_unlock(&av->bound.lock);
	*len = WEFT_NAME;
	return err;
}

static const char *straddr(struct fid_av *fid, const void *name, char *buf, size_t *len)
{
	uint32_t id;
	uint64_t life;

	memcpy(&id, (const char *)name + 4, sizeof id);
	memcpy(&life, (const char *)name + 16, sizeof life);
	int n = snprintf(buf, *len, "weft://%u.%llx", id, (unsigned long long)life);
	*len = n + 1;
	return buf;
}

static int no_service(struct fid_av *a, const char *n, const char *s, fi_addr_t *f, uint64_t g, void *c)
{
	return -FI_ENOSYS;
}
static int no_symmetry(struct fid_av *a, const char *n, size_t nc, const char *s, size_t sc, fi_addr_t *f, uint64_t g,
		       void *c)
{
	return -FI_ENOSYS;
}

static struct fi_ops_av av_ops = {
	.size = sizeof av_ops,
	.insert = insert,
	.insertsvc = no_service,
	.insertsym = no_symmetry,
	.remove = forget,
	.lookup = lookup,
	.straddr = straddr,
};

static int close_av(struct fid *fid)
{
	struct weft_av *av = container_of(fid, struct weft_av, fid.fid);

	if (av->bound.count)
		return -FI_EBUSY;
	free(av->names);
	free(av->bound.ep);
	free(av);
	return 0;
}

static struct fi_ops av_fid_ops = { sizeof av_fid_ops, close_av, no_bind, no_control, no_ops };

int weft_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **fid, void *context)
{
	struct weft_av *av;

	if (attr && (attr->name || (attr->flags & FI_EVENT))) /* not shared between processes, and no event queue */
		return -FI_ENOSYS;
	av = calloc(1, sizeof *av);
	if (!av)
		return -FI_ENOMEM;
	pthread_mutex_init(&av->bound.lock, NULL);
	av->fid.fid = (struct fid){ FI_CLASS_AV, context, &av_fid_ops };
	av->fid.ops = &av_ops;
	if (attr && attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_TABLE;
	*fid = &av->fid;
	return 0;
}
