/* Two halves of the ranks search the lowest point of a function, and agree on the lowest so far while they go on. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { POINTS = 64, ROUNDS = 50, TERMS = 40 };

struct place {
    double value;
    int index;
};

static double smooth(double x) {
    return (x - 3) * (x - 3) / 8 + (x + 6) * (x + 6) / 9;
}

static double rugged(double x) {
    double sum = 0;
    for (int k = 1; k <= TERMS; k++) {
        double t = k * x / 7;
        sum += fabs(t - floor(t) - 0.5) / k;
    }
    return sum;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, me, members, seen = 0, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int half = 2 * rank / size;
    MPI_Comm team;
    MPI_Comm_split(MPI_COMM_WORLD, half, rank, &team);
    MPI_Comm_rank(team, &me);
    MPI_Comm_size(team, &members);

    struct place mine = {INFINITY, 0}, known = {INFINITY, 0}, agreed = {INFINITY, 0};
    MPI_Request request = MPI_REQUEST_NULL;
    double x, from = half == 0 ? -10 : 0, step = 10.0 / (POINTS * ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = round + me * ROUNDS; i < POINTS * ROUNDS; i += members * ROUNDS) {
            x = from + i * step;
            if (smooth(x) < known.value) {
                double value = smooth(x) + rugged(x);
                seen++;
                if (value < mine.value) {
                    mine = (struct place){value, i};
                }
            }
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        known = agreed;
        agreed = mine;
        MPI_Iallreduce(MPI_IN_PLACE, &agreed, 1, MPI_DOUBLE_INT, MPI_MINLOC, team, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    x = from + agreed.index * step;
    struct place best = {agreed.value, rank};
    MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    MPI_Bcast(&x, 1, MPI_DOUBLE, best.index, MPI_COMM_WORLD);
    MPI_Reduce(&seen, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%.6f at %.6f, with %d of %d points\n", best.value, x, all, 2 * POINTS * ROUNDS);
    }
    MPI_Comm_free(&team);
    MPI_Finalize();
}
