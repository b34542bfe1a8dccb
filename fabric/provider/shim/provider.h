/* The objects of the provider. */
#ifndef WEFT_PROVIDER_H
#define WEFT_PROVIDER_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "core.h"

#define MAX_INJECT 16384 /* at most endpoint.EagerSize */
#define MAX_MESSAGE (1ULL << 40)
#define MAX_ATOMIC 4096 /* atomic.go */

#define CAPS                                                                                        \
	(FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_MULTI_RECV | FI_DIRECTED_RECV | FI_SOURCE |     \
	 FI_LOCAL_COMM | FI_REMOTE_COMM | FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE | FI_REMOTE_READ | \
	 FI_REMOTE_WRITE | FI_RMA_EVENT)
#define ORDER (FI_ORDER_SAS | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW)

extern struct fi_provider weft_provider;

struct weft_ep;

/* A list of the endpoints that are bound to something. */
struct bound {
	pthread_mutex_t lock;
	struct weft_ep **ep;
	int count;
};

struct weft_av {
	struct fid_av fid;
	struct bound bound;
	char (*names)[WEFT_NAME]; /* by fi_addr_t */
	size_t count;
};

struct weft_cq {
	struct fid_cq fid;
	struct bound bound;
	enum fi_cq_format format;
	pthread_mutex_t reading;
	struct weft_ring *ring;
	int idle; /* reads in a row that found nothing */
};

struct weft_cntr {
	struct fid_cntr fid;
	struct bound bound;
	struct weft_counter value;
};

enum { SENDS, RECEIVES, READS, WRITES, REMOTE_READS, REMOTE_WRITES, COUNTERS };

struct weft_ep {
	struct fid_ep fid;
	struct fid_domain *domain;
	struct weft_av *av;
	struct weft_cq *sent, *received;
	struct weft_cntr *counters[COUNTERS];
	uint64_t send_flags, receive_flags; /* of operations without flags of their own */
	int sends_selected, receives_selected;
	int directed; /* a receive may name its source; else it is for any */
	size_t least; /* FI_OPT_MIN_MULTI_RECV */
	int handle;   /* of the core; -1: it is not enabled */
	char name[WEFT_NAME];
};

int weft_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
		 struct fi_info **info);
int weft_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
int weft_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av, void *context);
int weft_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context);
int weft_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **cntr, void *context);
int weft_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq, void *context);
int weft_trywait(struct fid_fabric *fabric, struct fid **fids, int count);
int weft_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context);

int weft_av_tell(struct weft_av *av, struct weft_ep *ep); /* all names, to an endpoint that is enabled */
extern struct fi_ops_msg weft_msg_ops;
extern struct fi_ops_tagged weft_tagged_ops;
extern struct fi_ops_rma weft_rma_ops;
extern struct fi_ops_atomic weft_atomic_ops;
extern struct fi_ops_mr weft_mr_ops;
int weft_query_atomic(struct fid_domain *d, enum fi_datatype t, enum fi_op o, struct fi_atomic_attr *a, uint64_t flags);

/* A completion is told of each operation, or, of an endpoint that selects, of those that ask. */
static inline uint32_t completes(int selects, uint64_t flags)
{
	return !selects || (flags & FI_COMPLETION) ? WEFT_COMPLETES : 0;
}

void bind_to(struct bound *b, struct weft_ep *ep);
void unbind(struct bound *b, struct weft_ep *ep);
long long milliseconds(void);
void progress(struct bound *b); /* of its endpoints */

/* What the provider does not offer. */
int no_bind(struct fid *fid, struct fid *other, uint64_t flags);
int no_control(struct fid *fid, int command, void *arg);
int no_ops(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context);

#define WARN(subsystem, ...) FI_WARN(&weft_provider, subsystem, __VA_ARGS__)

#endif
