/* A master hands out ranges of numbers, and workers look for the primes in them. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

enum { RANGES = 200, WIDTH = 1000, WORK = 1, STOP = 2 };

struct found {
    int range, primes;
    double inverses; /* the sum of 1/p */
};

static void search(struct found *f) {
    f->primes = 0;
    f->inverses = 0;
    for (int n = f->range * WIDTH; n < (f->range + 1) * WIDTH; n++) {
        int d = 2;
        while (d * d <= n && n % d != 0) {
            d++;
        }
        if (n >= 2 && d * d > n) {
            f->primes++;
            f->inverses += 1.0 / n;
        }
    }
}

static void master(MPI_Datatype type, int workers) {
    struct found f, all[RANGES];
    MPI_Status status;
    int next = 0, primes = 0, stop = -1;
    while (workers > 0) {
        MPI_Recv(&f, 1, type, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == WORK) {
            all[f.range] = f;
        }
        if (next < RANGES) {
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, WORK, MPI_COMM_WORLD);
            next++;
        } else {
            MPI_Send(&stop, 1, MPI_INT, status.MPI_SOURCE, STOP, MPI_COMM_WORLD);
            workers--;
        }
    }
    double inverses = 0;
    for (int i = 0; i < RANGES; i++) {
        primes += all[i].primes;
        inverses += all[i].inverses;
    }
    printf("%d primes below %d, sum of inverses %.9f\n", primes, RANGES * WIDTH, inverses);
}

static void worker(MPI_Datatype type) {
    struct found f = {0};
    MPI_Status status;
    MPI_Send(&f, 1, type, 0, STOP, MPI_COMM_WORLD); /* it has found nothing so far */
    for (;;) {
        MPI_Recv(&f.range, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP) {
            return;
        }
        search(&f);
        MPI_Send(&f, 1, type, 0, WORK, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int lengths[2] = {2, 1};
    MPI_Aint places[2] = {offsetof(struct found, range), offsetof(struct found, inverses)};
    MPI_Datatype type, types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    if (rank == 0) {
        master(type, size - 1);
    } else {
        worker(type);
    }
    MPI_Type_free(&type);
    MPI_Finalize();
}
