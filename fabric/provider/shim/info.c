/* Which endpoints there are, and the objects that stand above them: fabric and domain. */
#include "provider.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

/*
 * Networks only: within a host the shared memory of the MPI is faster. So there is something to offer only if the host
 * has an address of its own, or the user names one.
 */
static int has_network(void)
{
	struct ifaddrs *all, *a;
	int found = 0;

	if (getenv("WEFT_BIND") && *getenv("WEFT_BIND"))
		return 1;
	if (getifaddrs(&all))
		return 0;
	for (a = all; a && !found; a = a->ifa_next)
		found = a->ifa_addr && (a->ifa_flags & IFF_UP) && !(a->ifa_flags & IFF_LOOPBACK) &&
			(a->ifa_addr->sa_family == AF_INET ||
			 (a->ifa_addr->sa_family == AF_INET6 &&
			  !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)a->ifa_addr)->sin6_addr)));
	freeifaddrs(all);
	return found;
}

/* Whether the hints leave an endpoint of this provider. */
static int suits(const struct fi_info *hints)
{
	const uint64_t asked = hints->caps & ~(FI_SHARED_AV | FI_SOURCE_ERR);
	const struct fi_domain_attr *d = hints->domain_attr;
	const struct fi_ep_attr *e = hints->ep_attr;

	if (asked & ~CAPS)
		return 0;
	if (hints->addr_format != FI_FORMAT_UNSPEC)
		return 0;
	if (e && ((e->type != FI_EP_UNSPEC && e->type != FI_EP_RDM) || e->protocol != FI_PROTO_UNSPEC ||
		  e->max_msg_size > MAX_MESSAGE || (e->tx_ctx_cnt > 1 && e->tx_ctx_cnt != FI_SHARED_CONTEXT) ||
		  (e->rx_ctx_cnt > 1 && e->rx_ctx_cnt != FI_SHARED_CONTEXT) || e->auth_key_size))
		return 0;
	if (d && (d->caps & ~(FI_LOCAL_COMM | FI_REMOTE_COMM)))
		return 0;
	if (d && d->mr_mode == FI_MR_BASIC) /* places in memory are named by their distance from its beginning */
		return 0;
	if (d && (d->cq_data_size > 8 || (d->name && strcmp(d->name, "weft"))))
		return 0;
	if (hints->fabric_attr && hints->fabric_attr->name && strcmp(hints->fabric_attr->name, "weft"))
		return 0;
	if (hints->tx_attr && ((hints->tx_attr->caps & ~CAPS) || hints->tx_attr->inject_size > MAX_INJECT ||
			       (hints->tx_attr->msg_order & ~ORDER) || hints->tx_attr->iov_limit > 1 ||
			       (hints->tx_attr->op_flags & FI_COMMIT_COMPLETE)))
		return 0;
	if (hints->rx_attr && ((hints->rx_attr->caps & ~CAPS) || (hints->rx_attr->msg_order & ~ORDER) ||
			       hints->rx_attr->iov_limit > 1))
		return 0;
	return 1;
}

static void describe(struct fi_info *i)
{
	i->caps = CAPS;
	i->addr_format = FI_FORMAT_UNSPEC;
	*i->tx_attr = (struct fi_tx_attr){ .caps = FI_MSG | FI_TAGGED | FI_SEND | FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE,
					   .msg_order = ORDER,
					   .comp_order = FI_ORDER_NONE,
					   .inject_size = MAX_INJECT,
					   .size = 4096,
					   .iov_limit = 1,
					   .rma_iov_limit = 1 };
	*i->rx_attr = (struct fi_rx_attr){ .caps = FI_MSG | FI_TAGGED | FI_RECV | FI_MULTI_RECV | FI_DIRECTED_RECV |
						   FI_SOURCE | FI_RMA | FI_ATOMIC | FI_REMOTE_READ | FI_REMOTE_WRITE |
						   FI_RMA_EVENT,
					   .msg_order = ORDER,
					   .comp_order = FI_ORDER_NONE,
					   .size = 4096,
					   .iov_limit = 1 };
	i->ep_attr->type = FI_EP_RDM;
	i->ep_attr->protocol_version = 1;
	i->ep_attr->max_msg_size = MAX_MESSAGE;
	i->ep_attr->mem_tag_format = ~0ULL;
	i->ep_attr->tx_ctx_cnt = 1;
	i->ep_attr->rx_ctx_cnt = 1;
	i->domain_attr->name = strdup("weft");
	i->domain_attr->threading = FI_THREAD_SAFE;
	i->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	i->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	i->domain_attr->resource_mgmt = FI_RM_ENABLED;
	i->domain_attr->av_type = FI_AV_TABLE;
	i->domain_attr->mr_key_size = 8;
	i->domain_attr->cq_data_size = 8;
	i->domain_attr->cq_cnt = 1024;
	i->domain_attr->ep_cnt = 1024;
	i->domain_attr->tx_ctx_cnt = 1024;
	i->domain_attr->rx_ctx_cnt = 1024;
	i->domain_attr->max_ep_tx_ctx = 1;
	i->domain_attr->max_ep_rx_ctx = 1;
	i->domain_attr->cntr_cnt = 1024;
	i->domain_attr->mr_iov_limit = 1;
	i->domain_attr->caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
	i->fabric_attr->name = strdup("weft");
	i->fabric_attr->prov_version = FI_VERSION(1, 0);
}

#define ACCESS (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

/* What the hints leave open, the caller gets as it asks for. */
static void follow(struct fi_info *i, const struct fi_info *hints, uint32_t version)
{
	if (hints->caps)
		i->caps = hints->caps | (hints->caps & (FI_MSG | FI_TAGGED) && !(hints->caps & (FI_SEND | FI_RECV)) ?
						 FI_SEND | FI_RECV : 0) |
			  (hints->caps & (FI_RMA | FI_ATOMIC) && !(hints->caps & ACCESS) ? ACCESS : 0);
	if (hints->tx_attr)
		i->tx_attr->op_flags = hints->tx_attr->op_flags;
	if (hints->rx_attr)
		i->rx_attr->op_flags = hints->rx_attr->op_flags;
	if (!hints->domain_attr)
		return;
	if (hints->domain_attr->mr_mode == FI_MR_SCALABLE || FI_VERSION_LT(version, FI_VERSION(1, 5)))
		i->domain_attr->mr_mode = FI_MR_SCALABLE;
	if (hints->domain_attr->threading)
		i->domain_attr->threading = hints->domain_attr->threading;
	if (hints->domain_attr->av_type)
		i->domain_attr->av_type = hints->domain_attr->av_type;
	if (hints->domain_attr->resource_mgmt)
		i->domain_attr->resource_mgmt = hints->domain_attr->resource_mgmt;
	if (hints->domain_attr->control_progress) /* what is asked to be automatic is done by a goroutine, if seldom */
		i->domain_attr->control_progress = hints->domain_attr->control_progress;
	if (hints->domain_attr->data_progress)
		i->domain_attr->data_progress = hints->domain_attr->data_progress;
}

int weft_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
		 struct fi_info **info)
{
	struct fi_info *i;

	if ((hints && !suits(hints)) || !has_network())
		return -FI_ENODATA;
	if (node || (service && !(flags & FI_SOURCE))) /* endpoints are found by their names alone, and any port does */
		return -FI_ENODATA;
	i = fi_allocinfo();
	if (!i)
		return -FI_ENOMEM;
	describe(i);
	if (hints)
		follow(i, hints, version);
	i->src_addrlen = WEFT_NAME;
	i->src_addr = calloc(1, WEFT_NAME); /* of no endpoint yet: its number and port are given when it is enabled */
	if (!i->src_addr) {
		fi_freeinfo(i);
		return -FI_ENOMEM;
	}
	*info = i;
	return 0;
}

int no_bind(struct fid *fid, struct fid *other, uint64_t flags) { return -FI_ENOSYS; }
int no_control(struct fid *fid, int command, void *arg) { return -FI_ENOSYS; }
int no_ops(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context) { return -FI_ENOSYS; }

static int close_simple(struct fid *fid)
{
	free(fid);
	return 0;
}

static struct fi_ops simple_ops = { sizeof simple_ops, close_simple, no_bind, no_control, no_ops };

static int no_scalable(struct fid_domain *d, struct fi_info *i, struct fid_ep **ep, void *c) { return -FI_ENOSYS; }
static int no_poll(struct fid_domain *d, struct fi_poll_attr *a, struct fid_poll **p) { return -FI_ENOSYS; }
static int no_stx(struct fid_domain *d, struct fi_tx_attr *a, struct fid_stx **s, void *c) { return -FI_ENOSYS; }
static int no_srx(struct fid_domain *d, struct fi_rx_attr *a, struct fid_ep **s, void *c) { return -FI_ENOSYS; }
static int no_collective(struct fid_domain *d, enum fi_collective_op o, struct fi_collective_attr *a, uint64_t f)
{
	return -FI_ENOSYS;
}

static struct fi_ops_domain domain_ops = {
	.size = sizeof domain_ops,
	.av_open = weft_av_open,
	.cq_open = weft_cq_open,
	.endpoint = weft_endpoint,
	.scalable_ep = no_scalable,
	.cntr_open = weft_cntr_open,
	.poll_open = no_poll,
	.stx_ctx = no_stx,
	.srx_ctx = no_srx,
	.query_atomic = weft_query_atomic,
	.query_collective = no_collective,
};

static int open_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain, void *context)
{
	struct fid_domain *d = calloc(1, sizeof *d);

	if (!d)
		return -FI_ENOMEM;
	d->fid = (struct fid){ FI_CLASS_DOMAIN, context, &simple_ops };
	d->ops = &domain_ops;
	d->mr = &weft_mr_ops;
	*domain = d;
	return 0;
}

static int no_pep(struct fid_fabric *f, struct fi_info *i, struct fid_pep **p, void *c) { return -FI_ENOSYS; }
static int no_wait(struct fid_fabric *f, struct fi_wait_attr *a, struct fid_wait **w) { return -FI_ENOSYS; }

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof fabric_ops,
	.domain = open_domain,
	.passive_ep = no_pep,
	.eq_open = weft_eq_open,
	.wait_open = no_wait,
	.trywait = weft_trywait,
};

int weft_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	struct fid_fabric *f;
	const char *why = core_load();

	if (why) {
		WARN(FI_LOG_FABRIC, "%s\n", why);
		return -FI_ENODEV;
	}
	f = calloc(1, sizeof *f);
	if (!f)
		return -FI_ENOMEM;
	f->fid = (struct fid){ FI_CLASS_FABRIC, context, &simple_ops };
	f->ops = &fabric_ops;
	f->api_version = attr->api_version;
	*fabric = f;
	return 0;
}

static void clean_up(void) {}

struct fi_provider weft_provider = {
	.version = FI_VERSION(1, 0),
	.name = "weft",
	.getinfo = weft_getinfo,
	.fabric = weft_fabric,
	.cleanup = clean_up,
};

FI_EXT_INI
{
	weft_provider.fi_version = fi_version(); /* a caller asks for no newer one */
	return &weft_provider;
}
