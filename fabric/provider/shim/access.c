/* Memory of other endpoints, and registered memory: libfabric's many calls, and the three of the core. */
#include "provider.h"

static const unsigned char sizes[] = { 1, 1, 2, 2, 4, 4, 8, 8, 4, 8 }; /* of words, by enum fi_datatype; atomic.go */

static ssize_t access_memory(struct fid_ep *fid, struct weft_access *a, uint64_t flags)
{
	struct weft_ep *ep = container_of(fid, struct weft_ep, fid);

	if (ep->handle < 0)
		return -FI_EOPBADSTATE;
	if (flags & FI_INJECT && a->out_size > MAX_INJECT)
		return -FI_EMSGSIZE;
	if (flags & FI_REMOTE_CQ_DATA)
		a->how |= WEFT_DATA;
	return core.access(ep->handle, a);
}

/* The flags of an operation that has none of its own, and whether its end is told. */
static uint64_t usual(struct fid_ep *fid) { return container_of(fid, struct weft_ep, fid)->send_flags; }
static uint32_t told(struct fid_ep *fid, uint64_t flags)
{
	return completes(container_of(fid, struct weft_ep, fid)->sends_selected, flags);
}

static ssize_t r_readmsg(struct fid_ep *e, const struct fi_msg_rma *m, uint64_t flags)
{
	struct weft_access a = { told(e, flags), WEFT_READ, .to = m->addr, .context = (uintptr_t)m->context };

	if (m->iov_count > 1 || m->rma_iov_count != 1)
		return -FI_EINVAL;
	a.key = m->rma_iov->key;
	a.at = m->rma_iov->addr;
	a.in = m->iov_count ? m->msg_iov->iov_base : NULL;
	a.in_size = m->iov_count ? m->msg_iov->iov_len : 0;
	return access_memory(e, &a, flags & ~(FI_INJECT | FI_REMOTE_CQ_DATA));
}
static ssize_t r_readv(struct fid_ep *e, const struct iovec *v, void **d, size_t n, fi_addr_t from, uint64_t at,
		       uint64_t key, void *c)
{
	struct fi_rma_iov there = { at, n ? v->iov_len : 0, key };
	struct fi_msg_rma m = { v, d, n, from, &there, 1, c, 0 };

	return r_readmsg(e, &m, usual(e));
}
static ssize_t r_read(struct fid_ep *e, void *b, size_t n, void *d, fi_addr_t from, uint64_t at, uint64_t key, void *c)
{
	struct iovec v = { b, n };

	return r_readv(e, &v, NULL, 1, from, at, key, c);
}

static ssize_t write_bytes(struct fid_ep *e, uint32_t how, uint64_t flags, const void *b, size_t n, uint64_t data,
			   fi_addr_t to, uint64_t at, uint64_t key, void *c)
{
	struct weft_access a = { how, WEFT_WRITE, .to = to, .key = key, .at = at, .data = data, .out = b, .out_size = n,
				 .context = (uintptr_t)c };

	return access_memory(e, &a, flags);
}
static ssize_t r_write(struct fid_ep *e, const void *b, size_t n, void *d, fi_addr_t to, uint64_t at, uint64_t key,
		       void *c)
{
	return write_bytes(e, told(e, usual(e)), usual(e), b, n, 0, to, at, key, c);
}
static ssize_t r_writev(struct fid_ep *e, const struct iovec *v, void **d, size_t n, fi_addr_t to, uint64_t at,
			uint64_t key, void *c)
{
	return n > 1 ? -FI_EINVAL : r_write(e, n ? v->iov_base : NULL, n ? v->iov_len : 0, NULL, to, at, key, c);
}
static ssize_t r_writemsg(struct fid_ep *e, const struct fi_msg_rma *m, uint64_t flags)
{
	const struct iovec *v = m->msg_iov;

	if (m->iov_count > 1 || m->rma_iov_count != 1)
		return -FI_EINVAL;
	return write_bytes(e, told(e, flags), flags, m->iov_count ? v->iov_base : NULL, m->iov_count ? v->iov_len : 0,
			   m->data, m->addr, m->rma_iov->addr, m->rma_iov->key, m->context);
}
static ssize_t r_inject(struct fid_ep *e, const void *b, size_t n, fi_addr_t to, uint64_t at, uint64_t key)
{
	return write_bytes(e, 0, FI_INJECT, b, n, 0, to, at, key, NULL);
}
static ssize_t r_writedata(struct fid_ep *e, const void *b, size_t n, void *d, uint64_t data, fi_addr_t to, uint64_t at,
			   uint64_t key, void *c)
{
	return write_bytes(e, told(e, usual(e)), usual(e) | FI_REMOTE_CQ_DATA, b, n, data, to, at, key, c);
}
static ssize_t r_injectdata(struct fid_ep *e, const void *b, size_t n, uint64_t data, fi_addr_t to, uint64_t at,
			    uint64_t key)
{
	return write_bytes(e, 0, FI_INJECT | FI_REMOTE_CQ_DATA, b, n, data, to, at, key, NULL);
}

struct fi_ops_rma weft_rma_ops = {
	.size = sizeof weft_rma_ops,
	.read = r_read,
	.readv = r_readv,
	.readmsg = r_readmsg,
	.write = r_write,
	.writev = r_writev,
	.writemsg = r_writemsg,
	.inject = r_inject,
	.writedata = r_writedata,
	.injectdata = r_injectdata,
};

/* How many words an operation may change, or an error. */
static int valid(enum fi_datatype t, enum fi_op op, size_t *count)
{
	int bits = op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;

	if ((size_t)t >= sizeof sizes || op > FI_MSWAP || (bits && t >= FI_FLOAT))
		return -FI_EOPNOTSUPP;
	*count = MAX_ATOMIC / sizes[t];
	return 0;
}
static int write_valid(struct fid_ep *e, enum fi_datatype t, enum fi_op op, size_t *count)
{
	return op >= FI_CSWAP || op == FI_ATOMIC_READ ? -FI_EOPNOTSUPP : valid(t, op, count);
}
static int fetch_valid(struct fid_ep *e, enum fi_datatype t, enum fi_op op, size_t *count)
{
	return op >= FI_CSWAP ? -FI_EOPNOTSUPP : valid(t, op, count);
}
static int compare_valid(struct fid_ep *e, enum fi_datatype t, enum fi_op op, size_t *count)
{
	return op < FI_CSWAP ? -FI_EOPNOTSUPP : valid(t, op, count);
}
int weft_query_atomic(struct fid_domain *d, enum fi_datatype t, enum fi_op op, struct fi_atomic_attr *a, uint64_t flags)
{
	int err = flags & FI_FETCH_ATOMIC   ? fetch_valid(NULL, t, op, &a->count) :
		  flags & FI_COMPARE_ATOMIC ? compare_valid(NULL, t, op, &a->count) :
					      write_valid(NULL, t, op, &a->count);

	if (!err)
		a->size = sizes[t];
	return err;
}

static const struct fi_ioc no_words;

/* All operations. Those that fetch nothing, or compare nothing, have no words there. */
static ssize_t update(struct fid_ep *e, uint32_t how, const struct fi_msg_atomic *m, const struct fi_ioc *with,
		      const struct fi_ioc *in, uint64_t flags)
{
	struct weft_access a = { how, WEFT_ATOMIC, .op = m->op, .type = m->datatype, .to = m->addr,
				 .context = (uintptr_t)m->context };
	size_t most;

	if (m->iov_count > 1 || m->rma_iov_count != 1 || valid(m->datatype, m->op, &most) || m->rma_iov->count > most)
		return -FI_EINVAL;
	a.key = m->rma_iov->key;
	a.at = m->rma_iov->addr;
	if (m->op != FI_ATOMIC_READ) {
		a.out = m->msg_iov->addr;
		a.out_size = m->msg_iov->count * sizes[m->datatype];
	}
	a.with = with->addr;
	a.with_size = with->count * sizes[m->datatype];
	a.in = in->addr;
	a.in_size = in->count * sizes[m->datatype];
	return access_memory(e, &a, flags & ~FI_REMOTE_CQ_DATA);
}

static ssize_t a_writemsg(struct fid_ep *e, const struct fi_msg_atomic *m, uint64_t flags)
{
	return update(e, told(e, flags), m, &no_words, &no_words, flags);
}
static ssize_t a_readwritemsg(struct fid_ep *e, const struct fi_msg_atomic *m, struct fi_ioc *r, void **d, size_t n,
			      uint64_t flags)
{
	return n != 1 ? -FI_EINVAL : update(e, told(e, flags), m, &no_words, r, flags);
}
static ssize_t a_compwritemsg(struct fid_ep *e, const struct fi_msg_atomic *m, const struct fi_ioc *w, void **wd,
			      size_t nw, struct fi_ioc *r, void **d, size_t n, uint64_t flags)
{
	return n != 1 || nw != 1 ? -FI_EINVAL : update(e, told(e, flags), m, w, r, flags);
}

/* MESSAGE(m) is the struct fi_msg_atomic of a call with one piece. */
#define MESSAGE(m, v, n)                                                  \
	struct fi_rma_ioc there = { at, (n) ? (v)->count : 0, key };      \
	struct fi_msg_atomic m = { v, NULL, n, to, &there, 1, t, op, c, 0 }
#define WHERE fi_addr_t to, uint64_t at, uint64_t key, enum fi_datatype t, enum fi_op op

static ssize_t a_writev(struct fid_ep *e, const struct fi_ioc *v, void **d, size_t n, WHERE, void *c)
{
	MESSAGE(m, v, n);
	return a_writemsg(e, &m, usual(e));
}
static ssize_t a_write(struct fid_ep *e, const void *b, size_t n, void *d, WHERE, void *c)
{
	struct fi_ioc v = { (void *)b, n };

	return a_writev(e, &v, NULL, 1, to, at, key, t, op, c);
}
static ssize_t a_inject(struct fid_ep *e, const void *b, size_t n, WHERE)
{
	struct fi_ioc v = { (void *)b, n };
	void *c = NULL;
	MESSAGE(m, &v, 1);

	return update(e, 0, &m, &no_words, &no_words, FI_INJECT);
}
static ssize_t a_readwritev(struct fid_ep *e, const struct fi_ioc *v, void **d, size_t n, struct fi_ioc *r, void **rd,
			    size_t nr, WHERE, void *c)
{
	MESSAGE(m, v, n);
	return a_readwritemsg(e, &m, r, NULL, nr, usual(e));
}
static ssize_t a_readwrite(struct fid_ep *e, const void *b, size_t n, void *d, void *result, void *rd, WHERE, void *c)
{
	struct fi_ioc v = { (void *)b, n }, r = { result, n };

	return a_readwritev(e, &v, NULL, 1, &r, NULL, 1, to, at, key, t, op, c);
}
static ssize_t a_compwritev(struct fid_ep *e, const struct fi_ioc *v, void **d, size_t n, const struct fi_ioc *w,
			    void **wd, size_t nw, struct fi_ioc *r, void **rd, size_t nr, WHERE, void *c)
{
	MESSAGE(m, v, n);
	return a_compwritemsg(e, &m, w, NULL, nw, r, NULL, nr, usual(e));
}
static ssize_t a_compwrite(struct fid_ep *e, const void *b, size_t n, void *d, const void *with, void *wd, void *result,
			   void *rd, WHERE, void *c)
{
	struct fi_ioc v = { (void *)b, n }, w = { (void *)with, n }, r = { result, n };

	return a_compwritev(e, &v, NULL, 1, &w, NULL, 1, &r, NULL, 1, to, at, key, t, op, c);
}

struct fi_ops_atomic weft_atomic_ops = {
	.size = sizeof weft_atomic_ops,
	.write = a_write,
	.writev = a_writev,
	.writemsg = a_writemsg,
	.inject = a_inject,
	.readwrite = a_readwrite,
	.readwritev = a_readwritev,
	.readwritemsg = a_readwritemsg,
	.compwrite = a_compwrite,
	.compwritev = a_compwritev,
	.compwritemsg = a_compwritemsg,
	.writevalid = write_valid,
	.readwritevalid = fetch_valid,
	.compwritevalid = compare_valid,
};

struct memory {
	struct fid_mr fid;
	uintptr_t domain;
};

static int close_memory(struct fid *fid)
{
	struct memory *m = container_of(fid, struct memory, fid.fid);

	core.dereg(m->domain, m->fid.key);
	free(m);
	return 0;
}

static int bind_memory(struct fid *fid, struct fid *other, uint64_t flags)
{
	struct memory *m = container_of(fid, struct memory, fid.fid);

	if (other->fclass != FI_CLASS_CNTR)
		return 0;
	return core.count(m->domain, m->fid.key, &container_of(other, struct weft_cntr, fid.fid)->value);
}
static struct fi_ops memory_ops = { sizeof memory_ops, close_memory, bind_memory, no_control, no_ops };

/* Memory needs not be registered but for others, who name a place in it by its distance from the beginning. */
static int reg(struct fid *f, const void *b, size_t n, uint64_t access, uint64_t o, uint64_t key, uint64_t g,
	       struct fid_mr **mr, void *context)
{
	struct memory *m = calloc(1, sizeof *m);
	int err;

	if (!m)
		return -FI_ENOMEM;
	m->domain = (uintptr_t)container_of(f, struct fid_domain, fid);
	m->fid.fid = (struct fid){ FI_CLASS_MR, context, &memory_ops };
	m->fid.key = key;
	err = core.reg(m->domain, key, (void *)b, n, access);
	if (err)
		free(m);
	else
		*mr = &m->fid;
	return err;
}
static int regv(struct fid *f, const struct iovec *v, size_t n, uint64_t access, uint64_t o, uint64_t key, uint64_t g,
		struct fid_mr **mr, void *context)
{
	return n != 1 ? -FI_EINVAL : reg(f, v->iov_base, v->iov_len, access, o, key, g, mr, context);
}
static int regattr(struct fid *f, const struct fi_mr_attr *a, uint64_t g, struct fid_mr **mr)
{
	return regv(f, a->mr_iov, a->iov_count, a->access, a->offset, a->requested_key, g, mr, a->context);
}

struct fi_ops_mr weft_mr_ops = { sizeof weft_mr_ops, reg, regv, regattr };
