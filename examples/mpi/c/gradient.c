/* Conjugate gradient: A x = b, where A is sparse and each rank has some of its rows (Laplace's operator on a square). */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 40, N = SIDE * SIDE };

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int counts[size], places[size];
    for (int i = 0; i < size; i++) {
        places[i] = N * i / size;
        counts[i] = N * (i + 1) / size - places[i];
    }
    int rows = counts[rank], first = places[rank];

    /* row i has the elements from begin[i] to begin[i + 1] */
    int *begin = malloc((rows + 1) * sizeof(int)), *column = malloc(5 * rows * sizeof(int)), n = 0;
    double *value = malloc(5 * rows * sizeof(double));
    for (int i = 0; i < rows; i++) {
        int at = first + i, x = at % SIDE, y = at / SIDE;
        int neighbours[5] = {at, x > 0 ? at - 1 : -1, x < SIDE - 1 ? at + 1 : -1,
                             y > 0 ? at - SIDE : -1, y < SIDE - 1 ? at + SIDE : -1};
        begin[i] = n;
        for (int j = 0; j < 5; j++) {
            if (neighbours[j] >= 0) {
                column[n] = neighbours[j];
                value[n] = j == 0 ? 4 : -1;
                n++;
            }
        }
    }
    begin[rows] = n;

    double *x = calloc(rows, sizeof(double)), *r = malloc(rows * sizeof(double));
    double *p = malloc(N * sizeof(double)), *q = malloc(rows * sizeof(double)), *mine = p + first;
    for (int i = 0; i < rows; i++) {
        r[i] = mine[i] = 1;
    }
    double rho = dot(r, r, rows);
    int steps = 0;
    while (sqrt(rho) > 1e-8) {
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, p, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
        for (int i = 0; i < rows; i++) {
            q[i] = 0;
            for (int k = begin[i]; k < begin[i + 1]; k++) {
                q[i] += value[k] * p[column[k]];
            }
        }
        double alpha = rho / dot(mine, q, rows), last = rho;
        for (int i = 0; i < rows; i++) {
            x[i] += alpha * mine[i];
            r[i] -= alpha * q[i];
        }
        rho = dot(r, r, rows);
        for (int i = 0; i < rows; i++) {
            mine[i] = r[i] + rho / last * mine[i];
        }
        steps++;
    }

    double largest = 0, all;
    for (int i = 0; i < rows; i++) {
        largest = fmax(largest, x[i]);
    }
    MPI_Reduce(&largest, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d unknowns in %d steps, the largest %.6f\n", N, steps, all);
    }
    free(begin);
    free(column);
    free(value);
    free(x);
    free(r);
    free(p);
    free(q);
    MPI_Finalize();
}
