/*
 * What MPI programs do, in all lengths at which messages begin to travel in another way. It says "exchanged" at the end.
 * Meanwhile a timer interrupts it, by a handler that needs more stack than a goroutine has.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static int rank, size, ticks;

static void tick(int number)
{
	volatile char much[1 << 16];

	memset((void *)much, 1, sizeof much);
	ticks++;
}

/* How many threads never run the handler. */
static int sheltered(void)
{
	DIR *all = opendir("/proc/self/task");
	struct dirent *d;
	int found = 0;

	while ((d = readdir(all))) {
		char path[300], line[200];
		snprintf(path, sizeof path, "/proc/self/task/%s/status", d->d_name);
		FILE *f = fopen(path, "r");
		while (f && fgets(line, sizeof line, f))
			if (!strncmp(line, "SigBlk:", 7))
				found += strtoull(line + 7, NULL, 16) >> (SIGALRM - 1) & 1;
		if (f)
			fclose(f);
	}
	closedir(all);
	return found;
}

static void require(int ok, const char *what)
{
	if (!ok) {
		printf("rank %d: %s\n", rank, what);
		fflush(stdout);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static void fill(unsigned char *b, int n, int from)
{
	for (int i = 0; i < n; i++)
		b[i] = i * 7 + (i >> 8) + from + n;
}

static void same(unsigned char *b, int n, int from)
{
	for (int i = 0; i < n; i++)
		require(b[i] == (unsigned char)(i * 7 + (i >> 8) + from + n), "other bytes than were sent");
}

/* Each rank sends to the next one. */
static void ring(int n)
{
	unsigned char *out = malloc(n + 1), *in = malloc(n + 1);
	int to = (rank + 1) % size, from = (rank + size - 1) % size, count;
	MPI_Request r[2];
	MPI_Status s;

	fill(out, n, rank);
	MPI_Irecv(in, n + 1, MPI_BYTE, from, n, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(out, n, MPI_BYTE, to, n, MPI_COMM_WORLD, &r[1]);
	MPI_Wait(&r[1], MPI_STATUS_IGNORE);
	MPI_Wait(&r[0], &s);
	MPI_Get_count(&s, MPI_BYTE, &count);
	require(count == n && s.MPI_SOURCE == from, "a wrong status");
	same(in, n, from);

	MPI_Issend(out, n, MPI_BYTE, to, 1, MPI_COMM_WORLD, &r[1]); /* unexpected, and found by a probe */
	MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
	MPI_Get_count(&s, MPI_BYTE, &count);
	require(count == n, "a wrong probe");
	MPI_Recv(in, n, MPI_BYTE, s.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&r[1], MPI_STATUS_IGNORE);
	same(in, n, from);

	MPI_Message m; /* found and taken */
	MPI_Isend(out, n, MPI_BYTE, to, 2, MPI_COMM_WORLD, &r[1]);
	MPI_Mprobe(from, 2, MPI_COMM_WORLD, &m, &s);
	MPI_Mrecv(in, n, MPI_BYTE, &m, MPI_STATUS_IGNORE);
	MPI_Wait(&r[1], MPI_STATUS_IGNORE);
	same(in, n, from);
	free(out);
	free(in);
}

/* Many messages that nobody waits for, received in the opposite order of their tags. */
static void flood(void)
{
	enum { many = 500 };
	static int out[many], in;
	MPI_Request r[many];

	for (int i = 0; i < many; i++) {
		out[i] = i + rank;
		MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &r[i]);
	}
	for (int i = many; i-- > 0;) {
		MPI_Recv(&in, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		require(in == i + (rank + size - 1) % size, "a wrong message");
	}
	MPI_Waitall(many, r, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	static const int lengths[] = { 0, 1, 8, 16384, 16385, 32736, 32737, 65536, 65537, 1 << 20, 3000000 };
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	MPI_Request r;
	int sum, cancelled;
	MPI_Status s;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++)
		ring(lengths[i]);
	flood();
	setitimer(ITIMER_REAL, &never, NULL);
	require(ticks > 0, "no signal has come");
	require(sheltered() >= 3, "threads of Go run the program's handlers");
	MPI_Irecv(&sum, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &r);
	MPI_Cancel(&r);
	MPI_Wait(&r, &s);
	MPI_Test_cancelled(&s, &cancelled);
	require(cancelled, "a receive was not cancelled");
	require(system("true") == 0, "a program was not run");
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	require(sum == size * (size - 1) / 2, "a wrong sum");
	if (rank == 0)
		printf("exchanged\n");
	MPI_Finalize();
	return 0;
}
