/* Endpoints: what belongs to them, and their names. */
#include "provider.h"

static int bind_ep(struct fid *fid, struct fid *other, uint64_t flags)
{
	static const uint64_t counted[COUNTERS] = { FI_SEND,  FI_RECV,	FI_READ,
						    FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE };
	struct weft_ep *ep = container_of(fid, struct weft_ep, fid.fid);
	int i;

	if (ep->handle >= 0)
		return -FI_EOPBADSTATE;
	switch (other->fclass) {
	case FI_CLASS_AV:
		ep->av = container_of(other, struct weft_av, fid.fid);
		bind_to(&ep->av->bound, ep);
		return 0;
	case FI_CLASS_CQ: {
		struct weft_cq *cq = container_of(other, struct weft_cq, fid.fid);

		if (flags & FI_TRANSMIT) {
			ep->sent = cq;
			ep->sends_selected = !!(flags & FI_SELECTIVE_COMPLETION);
		}
		if (flags & FI_RECV) {
			ep->received = cq;
			ep->receives_selected = !!(flags & FI_SELECTIVE_COMPLETION);
		}
		bind_to(&cq->bound, ep);
		return 0;
	}
	case FI_CLASS_EQ:
		return 0;
	case FI_CLASS_CNTR:
		for (i = 0; i < COUNTERS; i++)
			if (flags & counted[i])
				ep->counters[i] = container_of(other, struct weft_cntr, fid.fid);
		bind_to(&container_of(other, struct weft_cntr, fid.fid)->bound, ep);
		return 0;
	default:
		return -FI_EINVAL;
	}
}

static struct weft_counter *value(struct weft_ep *ep, int i) { return ep->counters[i] ? &ep->counters[i]->value : NULL; }

static int enable(struct weft_ep *ep)
{
	struct weft_report report;
	char text[256] = "";
	int err;

	if (ep->handle >= 0)
		return 0;
	if (!ep->av)
		return -FI_ENOAV;
	if (!ep->sent || !ep->received)
		return -FI_ENOCQ;
	pthread_mutex_lock(&ep->av->bound.lock);
	report = (struct weft_report){ ep->sent->ring,	  ep->received->ring, value(ep, SENDS),	       value(ep, RECEIVES),
				       value(ep, READS), value(ep, WRITES),  value(ep, REMOTE_READS), value(ep, REMOTE_WRITES) };
	ep->handle = core.open((uintptr_t)ep->domain, &report, ep->name, text, sizeof text);
	if (*text)
		WARN(FI_LOG_EP_CTRL, "%s\n", text);
	err = ep->handle < 0 ? -FI_ENODEV : weft_av_tell(ep->av, ep);
	pthread_mutex_unlock(&ep->av->bound.lock);
	return err;
}

static int control(struct fid *fid, int command, void *arg)
{
	struct weft_ep *ep = container_of(fid, struct weft_ep, fid.fid);
	uint64_t flags;

	switch (command) {
	case FI_ENABLE:
		return enable(ep);
	case FI_GETOPSFLAG:
		flags = *(uint64_t *)arg;
		*(uint64_t *)arg = flags & FI_TRANSMIT ? ep->send_flags : ep->receive_flags;
		return 0;
	case FI_SETOPSFLAG:
		flags = *(uint64_t *)arg;
		if (flags & FI_TRANSMIT)
			ep->send_flags = flags & ~FI_TRANSMIT;
		if (flags & FI_RECV)
			ep->receive_flags = flags & ~FI_RECV;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

static int close_ep(struct fid *fid)
{
	struct weft_ep *ep = container_of(fid, struct weft_ep, fid.fid);
	int i, handle = ep->handle;

	if (ep->av)
		unbind(&ep->av->bound, ep);
	if (ep->sent)
		unbind(&ep->sent->bound, ep);
	if (ep->received)
		unbind(&ep->received->bound, ep);
	for (i = 0; i < COUNTERS; i++)
		if (ep->counters[i])
			unbind(&ep->counters[i]->bound, ep);
	if (handle >= 0)
		core.close(handle);
	free(ep);
	return 0;
}

static struct fi_ops ep_fid_ops = { sizeof ep_fid_ops, close_ep, bind_ep, control, no_ops };

static ssize_t cancel(fid_t fid, void *context)
{
	struct weft_ep *ep = container_of(fid, struct weft_ep, fid.fid);

	core.cancel(ep->handle, (uintptr_t)context);
	return 0;
}

static int getopt_ep(fid_t fid, int level, int name, void *value, size_t *len)
{
	struct weft_ep *ep = container_of(fid, struct weft_ep, fid.fid);

	if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	if (*len < sizeof ep->least)
		return -FI_ETOOSMALL;
	*(size_t *)value = ep->least;
	*len = sizeof ep->least;
	return 0;
}

static int setopt_ep(fid_t fid, int level, int name, const void *value, size_t len)
{
	struct weft_ep *ep = container_of(fid, struct weft_ep, fid.fid);

	if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV || len != sizeof ep->least)
		return -FI_ENOPROTOOPT;
	ep->least = *(const size_t *)value;
	return 0;
}

static int no_tx(struct fid_ep *s, int i, struct fi_tx_attr *a, struct fid_ep **e, void *c) { return -FI_ENOSYS; }
static int no_rx(struct fid_ep *s, int i, struct fi_rx_attr *a, struct fid_ep **e, void *c) { return -FI_ENOSYS; }
static ssize_t no_size(struct fid_ep *ep) { return -FI_ENOSYS; }

static struct fi_ops_ep ep_ops = { sizeof ep_ops, cancel, getopt_ep, setopt_ep, no_tx, no_rx, no_size, no_size };

static int getname(fid_t fid, void *name, size_t *len)
{
	struct weft_ep *ep = container_of(fid, struct weft_ep, fid.fid);
	size_t room = *len;

	*len = WEFT_NAME;
	if (ep->handle < 0)
		return -FI_EOPBADSTATE;
	if (room < WEFT_NAME)
		return -FI_ETOOSMALL;
	memcpy(name, ep->name, WEFT_NAME);
	return 0;
}

static int no_setname(fid_t f, void *a, size_t n) { return -FI_ENOSYS; }
static int no_peer(struct fid_ep *e, void *a, size_t *n) { return -FI_ENOSYS; }
static int no_connect(struct fid_ep *e, const void *a, const void *p, size_t n) { return -FI_ENOSYS; }
static int no_listen(struct fid_pep *e) { return -FI_ENOSYS; }
static int no_accept(struct fid_ep *e, const void *p, size_t n) { return -FI_ENOSYS; }
static int no_reject(struct fid_pep *e, fid_t h, const void *p, size_t n) { return -FI_ENOSYS; }
static int no_shutdown(struct fid_ep *e, uint64_t f) { return -FI_ENOSYS; }
static int no_join(struct fid_ep *e, const void *a, uint64_t f, struct fid_mc **m, void *c) { return -FI_ENOSYS; }

static struct fi_ops_cm cm_ops = { sizeof cm_ops, no_setname, getname,	 no_peer,     no_connect,
				   no_listen,	  no_accept,  no_reject, no_shutdown, no_join };

int weft_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **fid, void *context)
{
	struct weft_ep *ep = calloc(1, sizeof *ep);

	if (!ep)
		return -FI_ENOMEM;
	ep->fid.fid = (struct fid){ FI_CLASS_EP, context, &ep_fid_ops };
	ep->fid.ops = &ep_ops;
	ep->fid.cm = &cm_ops;
	ep->fid.msg = &weft_msg_ops;
	ep->fid.tagged = &weft_tagged_ops;
	ep->fid.rma = &weft_rma_ops;
	ep->fid.atomic = &weft_atomic_ops;
	ep->domain = domain;
	ep->handle = -1;
	ep->least = 1;
	ep->directed = !!(info->caps & FI_DIRECTED_RECV);
	if (info->tx_attr)
		ep->send_flags = info->tx_attr->op_flags;
	if (info->rx_attr)
		ep->receive_flags = info->rx_attr->op_flags;
	*fid = &ep->fid;
	return 0;
}
