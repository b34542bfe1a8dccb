/* twin PROVIDER latency|write SIZE COUNT: what libfabric takes between two processes of this host, as plain C uses it. It
 * prints half of the median round trip of a message in ns, by fi_send and fi_recv, or the MB/s of writes, one at a time.
 * A write ends when its bytes are in place, as weft's PUSH does. Both processes look all the time, at a queue on which they
 * could sleep, as weft's ranks can, where the provider has that. */
#define _GNU_SOURCE
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(call) must(#call, (call))
#define RETRY(call)                                       \
	do {                                              \
		long result_;                             \
		while ((result_ = (call)) == -FI_EAGAIN)  \
			look();                           \
		must(#call, result_);                     \
	} while (0)

static struct fi_info *info;
static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fid_mr *mr;
static fi_addr_t peer;
static char *memory, *out;
static struct fi_context2 sending, receiving;
static unsigned long sent, received;

struct card {
	char name[256];
	size_t length;
	uint64_t at, key;
};

static void must(const char *call, long result)
{
	if (result == 0)
		return;
	fprintf(stderr, "%s: %s\n", call, fi_strerror(-result));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void look(void)
{
	struct fi_cq_msg_entry done[8];
	ssize_t n = fi_cq_read(cq, done, 8);

	if (n == -FI_EAGAIN)
		return;
	if (n < 0)
		must("fi_cq_read", n);
	for (ssize_t i = 0; i < n; i++) {
		if (done[i].op_context == &receiving)
			received++;
		else if (done[i].op_context == &sending)
			sent++;
	}
}

static void open_endpoint(const char *provider, size_t size)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD, .size = 1024};
	struct fi_av_attr addresses = {.type = FI_AV_TABLE};
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	int local = strcmp(provider, "shm") == 0;

	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->fabric_attr->prov_name = strdup(provider);
	MUST(fi_getinfo(FI_VERSION(1, 15), local ? NULL : "127.0.0.1", NULL, local ? 0 : FI_SOURCE, hints, &info));
	MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
	MUST(fi_domain(fabric, info, &domain, NULL));
	MUST(fi_endpoint(domain, info, &ep, NULL));
	if (fi_cq_open(domain, &queue, &cq, NULL) != 0) {
		queue.wait_obj = FI_WAIT_NONE;
		MUST(fi_cq_open(domain, &queue, &cq, NULL));
	}
	MUST(fi_av_open(domain, &addresses, &av, NULL));
	MUST(fi_ep_bind(ep, &av->fid, 0));
	MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(ep));
	memory = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(memory, 1, 2 * size);
	out = memory + size;
	MUST(fi_mr_reg(domain, memory, 2 * size, FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
		1, 0, &mr, NULL));
	peer = (fi_addr_t)(uintptr_t)av;
}

/* meet exchanges cards with the other process, and makes it known. */
static struct card meet(int other)
{
	struct card mine = {.length = sizeof(mine.name)}, theirs;
	struct fid_av *av = (struct fid_av *)(uintptr_t)peer;

	MUST(fi_getname(&ep->fid, mine.name, &mine.length));
	mine.at = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)memory : 0;
	mine.key = fi_mr_key(mr);
	if (write(other, &mine, sizeof(mine)) != sizeof(mine) || read(other, &theirs, sizeof(theirs)) != sizeof(theirs) ||
	    fi_av_insert(av, theirs.name, 1, &peer, 0, NULL) != 1)
		must("meeting", -FI_EINVAL);
	return theirs;
}

static void post(size_t size) { RETRY(fi_recv(ep, memory, size, fi_mr_desc(mr), FI_ADDR_UNSPEC, &receiving)); }

static void give(size_t size)
{
	static unsigned long given;

	if (size <= info->tx_attr->inject_size) {
		RETRY(fi_inject(ep, out, size, peer));
		return;
	}
	RETRY(fi_send(ep, out, size, fi_mr_desc(mr), peer, &sending));
	for (given++; sent < given;)
		look();
}

static void take(size_t size)
{
	static unsigned long taken;

	for (taken++; received < taken;)
		look();
	post(size);
}

static int compare(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

static double latency(int second, size_t size, long count)
{
	double *took = calloc(count, sizeof(double));

	post(size);
	for (long i = -count / 10; i < count; i++) {
		double begun = now();

		if (second)
			take(size);
		give(size);
		if (!second)
			take(size);
		if (i >= 0)
			took[i] = (now() - begun) / 2;
	}
	qsort(took, count, sizeof(double), compare);
	return took[count / 2];
}

static double writes(size_t size, long count, struct card far)
{
	struct iovec here = {out, size};
	struct fi_rma_iov there = {far.at, size, far.key};
	void *desc = fi_mr_desc(mr);
	struct fi_msg_rma one = {.msg_iov = &here, .desc = &desc, .iov_count = 1, .addr = peer, .rma_iov = &there,
		.rma_iov_count = 1, .context = &sending};
	double begun = 0;

	for (long i = -count / 10; i < count; i++) {
		unsigned long want = sent + 1;

		if (i == 0)
			begun = now();
		RETRY(fi_writemsg(ep, &one, FI_COMPLETION | FI_DELIVERY_COMPLETE));
		while (sent < want)
			look();
	}
	return size * (double)count / (now() - begun) * 1e3;
}

int main(int argc, char **argv)
{
	int pair[2], second, other;
	size_t size;
	cpu_set_t cpus;
	char byte = 0;
	struct card far;

	if (argc != 5 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return 2;
	size = strtoul(argv[3], NULL, 10);
	second = fork() == 0;
	other = pair[second];
	close(pair[!second]);
	CPU_ZERO(&cpus);
	CPU_SET(second % sysconf(_SC_NPROCESSORS_ONLN), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	open_endpoint(argv[1], size < 4096 ? 4096 : size);
	far = meet(other);
	if (strcmp(argv[2], "latency") == 0) {
		double ns = latency(second, size, atol(argv[4]));

		if (!second)
			printf("%.0f\n", ns);
	} else if (!second) {
		printf("%.0f\n", writes(size, atol(argv[4]), far));
	}
	fflush(stdout);
	if (second) { /* until the first process has ended */
		while (recv(other, &byte, 1, MSG_DONTWAIT) != 0)
			look();
		fi_close(&ep->fid); /* shm leaves a file behind otherwise */
		return 0;
	}
	for (int i = 0; i < 1000; i++) /* what was sent last leaves */
		look();
	close(other);
	wait(NULL);
	fi_close(&ep->fid);
	return 0;
}
