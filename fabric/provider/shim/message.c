/* Sends and receives: libfabric's many calls, and the two of the core. */
#include "provider.h"

static struct weft_ep *of(struct fid_ep *fid) { return container_of(fid, struct weft_ep, fid); }

static ssize_t send_bytes(struct fid_ep *fid, uint32_t how, uint64_t flags, const void *buf, size_t len, fi_addr_t to,
			  uint64_t tag, uint64_t data, void *context)
{
	struct weft_ep *ep = of(fid);

	if (ep->handle < 0)
		return -FI_EOPBADSTATE;
	if (flags & FI_INJECT && len > MAX_INJECT)
		return -FI_EMSGSIZE;
	if (flags & FI_REMOTE_CQ_DATA)
		how |= WEFT_DATA;
	if (flags & FI_DELIVERY_COMPLETE)
		how |= WEFT_DELIVERED;
	return core.send(ep->handle, how | completes(ep->sends_selected, flags), to, tag, data, (void *)buf, len,
			 (uintptr_t)context);
}

/* An injected message has no completion. */
static ssize_t inject_bytes(struct fid_ep *fid, uint32_t how, const void *buf, size_t len, fi_addr_t to, uint64_t tag,
			    uint64_t data)
{
	struct weft_ep *ep = of(fid);

	if (ep->handle < 0)
		return -FI_EOPBADSTATE;
	if (len > MAX_INJECT)
		return -FI_EMSGSIZE;
	return core.send(ep->handle, how, to, tag, data, (void *)buf, len, 0);
}

static ssize_t receive_bytes(struct fid_ep *fid, uint32_t how, uint64_t flags, void *buf, size_t len, fi_addr_t from,
			     uint64_t tag, uint64_t ignore, void *context)
{
	struct weft_ep *ep = of(fid);

	if (ep->handle < 0)
		return -FI_EOPBADSTATE;
	if (!ep->directed)
		from = FI_ADDR_UNSPEC;
	how |= completes(ep->receives_selected, flags);
	how |= flags & FI_MULTI_RECV ? WEFT_SEVERAL : 0;
	how |= flags & FI_PEEK ? WEFT_PEEK : 0;
	how |= flags & FI_CLAIM ? WEFT_CLAIM : 0;
	how |= flags & FI_DISCARD ? WEFT_DISCARD : 0;
	return core.receive(ep->handle, how, from, tag, ignore, buf, len, ep->least, (uintptr_t)context);
}

/* The one piece of memory of an operation. */
static const struct iovec *piece(const struct iovec *iov, size_t count)
{
	static const struct iovec none;

	return count ? iov : &none;
}

static ssize_t m_recv(struct fid_ep *e, void *b, size_t n, void *d, fi_addr_t from, void *c)
{
	return receive_bytes(e, 0, of(e)->receive_flags, b, n, from, 0, 0, c);
}
static ssize_t m_recvv(struct fid_ep *e, const struct iovec *v, void **d, size_t count, fi_addr_t from, void *c)
{
	v = piece(v, count);
	return count > 1 ? -FI_EINVAL : m_recv(e, v->iov_base, v->iov_len, NULL, from, c);
}
static ssize_t m_recvmsg(struct fid_ep *e, const struct fi_msg *m, uint64_t flags)
{
	const struct iovec *v = piece(m->msg_iov, m->iov_count);

	if (m->iov_count > 1)
		return -FI_EINVAL;
	return receive_bytes(e, 0, flags, v->iov_base, v->iov_len, m->addr, 0, 0, m->context);
}
static ssize_t m_send(struct fid_ep *e, const void *b, size_t n, void *d, fi_addr_t to, void *c)
{
	return send_bytes(e, 0, of(e)->send_flags, b, n, to, 0, 0, c);
}
static ssize_t m_sendv(struct fid_ep *e, const struct iovec *v, void **d, size_t count, fi_addr_t to, void *c)
{
	v = piece(v, count);
	return count > 1 ? -FI_EINVAL : m_send(e, v->iov_base, v->iov_len, NULL, to, c);
}
static ssize_t m_sendmsg(struct fid_ep *e, const struct fi_msg *m, uint64_t flags)
{
	const struct iovec *v = piece(m->msg_iov, m->iov_count);

	if (m->iov_count > 1)
		return -FI_EINVAL;
	return send_bytes(e, 0, flags, v->iov_base, v->iov_len, m->addr, 0, m->data, m->context);
}
static ssize_t m_inject(struct fid_ep *e, const void *b, size_t n, fi_addr_t to)
{
	return inject_bytes(e, 0, b, n, to, 0, 0);
}
static ssize_t m_senddata(struct fid_ep *e, const void *b, size_t n, void *d, uint64_t data, fi_addr_t to, void *c)
{
	return send_bytes(e, WEFT_DATA, of(e)->send_flags, b, n, to, 0, data, c);
}
static ssize_t m_injectdata(struct fid_ep *e, const void *b, size_t n, uint64_t data, fi_addr_t to)
{
	return inject_bytes(e, WEFT_DATA, b, n, to, 0, data);
}

struct fi_ops_msg weft_msg_ops = {
	.size = sizeof weft_msg_ops,
	.recv = m_recv,
	.recvv = m_recvv,
	.recvmsg = m_recvmsg,
	.send = m_send,
	.sendv = m_sendv,
	.sendmsg = m_sendmsg,
	.inject = m_inject,
	.senddata = m_senddata,
	.injectdata = m_injectdata,
};

static ssize_t t_recv(struct fid_ep *e, void *b, size_t n, void *d, fi_addr_t from, uint64_t tag, uint64_t ignore,
		      void *c)
{
	return receive_bytes(e, WEFT_TAGGED, of(e)->receive_flags, b, n, from, tag, ignore, c);
}
static ssize_t t_recvv(struct fid_ep *e, const struct iovec *v, void **d, size_t count, fi_addr_t from, uint64_t tag,
		       uint64_t ignore, void *c)
{
	v = piece(v, count);
	return count > 1 ? -FI_EINVAL : t_recv(e, v->iov_base, v->iov_len, NULL, from, tag, ignore, c);
}
static ssize_t t_recvmsg(struct fid_ep *e, const struct fi_msg_tagged *m, uint64_t flags)
{
	const struct iovec *v = piece(m->msg_iov, m->iov_count);

	if (m->iov_count > 1)
		return -FI_EINVAL;
	return receive_bytes(e, WEFT_TAGGED, flags, v->iov_base, v->iov_len, m->addr, m->tag, m->ignore, m->context);
}
static ssize_t t_send(struct fid_ep *e, const void *b, size_t n, void *d, fi_addr_t to, uint64_t tag, void *c)
{
	return send_bytes(e, WEFT_TAGGED, of(e)->send_flags, b, n, to, tag, 0, c);
}
static ssize_t t_sendv(struct fid_ep *e, const struct iovec *v, void **d, size_t count, fi_addr_t to, uint64_t tag,
		       void *c)
{
	v = piece(v, count);
	return count > 1 ? -FI_EINVAL : t_send(e, v->iov_base, v->iov_len, NULL, to, tag, c);
}
static ssize_t t_sendmsg(struct fid_ep *e, const struct fi_msg_tagged *m, uint64_t flags)
{
	const struct iovec *v = piece(m->msg_iov, m->iov_count);

	if (m->iov_count > 1)
		return -FI_EINVAL;
	return send_bytes(e, WEFT_TAGGED, flags, v->iov_base, v->iov_len, m->addr, m->tag, m->data, m->context);
}
static ssize_t t_inject(struct fid_ep *e, const void *b, size_t n, fi_addr_t to, uint64_t tag)
{
	return inject_bytes(e, WEFT_TAGGED, b, n, to, tag, 0);
}
static ssize_t t_senddata(struct fid_ep *e, const void *b, size_t n, void *d, uint64_t data, fi_addr_t to,
			  uint64_t tag, void *c)
{
	return send_bytes(e, WEFT_TAGGED | WEFT_DATA, of(e)->send_flags, b, n, to, tag, data, c);
}
static ssize_t t_injectdata(struct fid_ep *e, const void *b, size_t n, uint64_t data, fi_addr_t to, uint64_t tag)
{
	return inject_bytes(e, WEFT_TAGGED | WEFT_DATA, b, n, to, tag, data);
}

struct fi_ops_tagged weft_tagged_ops = {
	.size = sizeof weft_tagged_ops,
	.recv = t_recv,
	.recvv = t_recvv,
	.recvmsg = t_recvmsg,
	.send = t_send,
	.sendv = t_sendv,
	.sendmsg = t_sendmsg,
	.inject = t_inject,
	.senddata = t_senddata,
	.injectdata = t_injectdata,
};
