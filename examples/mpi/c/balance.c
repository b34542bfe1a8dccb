/* Ranks draw ranges of numbers, and all count in one histogram how long the sequences 3n + 1, n / 2 are until 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANGES = 100, WIDTH = 300, BINS = 40, BIN = 10 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (BINS % size != 0) {
        fprintf(stderr, "%d bins cannot be shared by %d ranks\n", BINS, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int part = BINS / size;
    long *counter, *bins, one = 1, range, local[BINS];
    MPI_Win tickets, histogram;
    MPI_Win_allocate(rank == 0 ? sizeof(long) : 0, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &tickets);
    MPI_Win_allocate(part * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &bins, &histogram);
    if (rank == 0) {
        *counter = 0;
    }
    memset(bins, 0, part * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock_all(0, tickets);
    MPI_Win_lock_all(0, histogram);
    for (;;) {
        MPI_Fetch_and_op(&one, &range, MPI_LONG, 0, 0, MPI_SUM, tickets);
        MPI_Win_flush(0, tickets);
        if (range >= RANGES) {
            break;
        }
        memset(local, 0, sizeof(local));
        for (long first = range * WIDTH + 1; first <= (range + 1) * WIDTH; first++) {
            int length = 0;
            for (long n = first; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) {
                length++;
            }
            local[length / BIN]++;
        }
        for (int to = 0; to < size; to++) {
            MPI_Accumulate(local + to * part, part, MPI_LONG, to, 0, part, MPI_LONG, MPI_SUM, histogram);
        }
        MPI_Win_flush_all(histogram);
    }
    MPI_Win_unlock_all(tickets);
    MPI_Win_unlock_all(histogram);
    MPI_Barrier(MPI_COMM_WORLD);

    if (rank == 0) {
        long all[BINS], most = 0;
        MPI_Win_lock_all(0, histogram);
        for (int from = 0; from < size; from++) {
            MPI_Get(all + from * part, part, MPI_LONG, from, 0, part, MPI_LONG, histogram);
        }
        MPI_Win_unlock_all(histogram);
        for (int i = 1; i < BINS; i++) {
            most = all[i] > all[most] ? i : most;
        }
        printf("%ld sequences of %d have from %ld to %ld steps\n", all[most], RANGES * WIDTH, most * BIN,
               (most + 1) * BIN - 1);
    }
    MPI_Win_free(&tickets);
    MPI_Win_free(&histogram);
    MPI_Finalize();
}
