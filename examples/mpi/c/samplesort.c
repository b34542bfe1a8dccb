/* Sample sort: samples of the keys divide their range, and each rank sorts the keys of one part. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 20000 };

static int ascending(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *keys = malloc(N * sizeof(int));
    unsigned random = rank + 1;
    for (int i = 0; i < N; i++) {
        random = random * 1664525 + 1013904223;
        keys[i] = random >> 2;
    }
    qsort(keys, N, sizeof(int), ascending);

    int samples[size], all[size * size], splitters[size];
    for (int i = 0; i < size; i++) {
        samples[i] = keys[i * N / size];
    }
    MPI_Gather(samples, size, MPI_INT, all, size, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        qsort(all, size * size, sizeof(int), ascending);
        for (int i = 0; i < size - 1; i++) {
            splitters[i] = all[i * size + size + size / 2];
        }
    }
    MPI_Bcast(splitters, size - 1, MPI_INT, 0, MPI_COMM_WORLD);

    int out[size], in[size], outplace[size], inplace[size];
    for (int i = 0; i < size; i++) {
        out[i] = 0;
    }
    for (int i = 0, to = 0; i < N; i++) {
        while (to < size - 1 && keys[i] >= splitters[to]) {
            to++;
        }
        out[to]++;
    }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    int sent = 0, got = 0;
    for (int i = 0; i < size; i++) {
        outplace[i] = sent;
        inplace[i] = got;
        sent += out[i];
        got += in[i];
    }
    int *part = malloc(got * sizeof(int));
    MPI_Alltoallv(keys, out, outplace, MPI_INT, part, in, inplace, MPI_INT, MPI_COMM_WORLD);
    qsort(part, got, sizeof(int), ascending);

    int mine[3] = {got, part[0], part[got - 1]}, parts[3 * size], total = 0, disorder = 0;
    MPI_Gather(mine, 3, MPI_INT, parts, 3, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < size; i++) {
            total += parts[3 * i];
            disorder += i > 0 && parts[3 * i + 1] < parts[3 * i - 1];
        }
        printf("%d keys from %d to %d, %d parts out of order\n", total, parts[1], parts[3 * size - 1], disorder);
    }
    free(keys);
    free(part);
    MPI_Finalize();
}
