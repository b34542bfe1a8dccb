/* The product of two matrices, whose blocks lie on a square grid of ranks (SUMMA). */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 192 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int size, rank, at[2];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int q = (int)sqrt(size);
    if (q * q != size || N % q != 0) {
        fprintf(stderr, "%d ranks are no square grid for %d rows\n", size, N);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int dims[2] = {q, q}, periods[2] = {0, 0}, alongrow[2] = {0, 1}, alongcol[2] = {1, 0};
    MPI_Comm grid, row, col;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, at);
    MPI_Cart_sub(grid, alongrow, &row);
    MPI_Cart_sub(grid, alongcol, &col);

    int b = N / q, bytes = b * b * sizeof(double);
    double *A = malloc(bytes), *B = malloc(bytes), *C = calloc(1, bytes);
    double *left = malloc(bytes), *upper = malloc(bytes);
    for (int i = 0; i < b; i++) {
        for (int j = 0; j < b; j++) {
            A[i * b + j] = (at[0] * b + i) % 7 + 1;
            B[i * b + j] = (at[1] * b + j) % 5 + 1;
        }
    }
    for (int k = 0; k < q; k++) {
        if (k == at[1]) {
            memcpy(left, A, bytes);
        }
        if (k == at[0]) {
            memcpy(upper, B, bytes);
        }
        MPI_Bcast(left, b * b, MPI_DOUBLE, k, row);
        MPI_Bcast(upper, b * b, MPI_DOUBLE, k, col);
        for (int i = 0; i < b; i++) {
            for (int l = 0; l < b; l++) {
                for (int j = 0; j < b; j++) {
                    C[i * b + j] += left[i * b + l] * upper[l * b + j];
                }
            }
        }
    }

    double *all = malloc(size * bytes), sum = 0;
    MPI_Gather(C, b * b, MPI_DOUBLE, all, b * b, MPI_DOUBLE, 0, grid);
    if (rank == 0) {
        for (int i = 0; i < N * N; i++) {
            sum += all[i];
        }
        printf("%d x %d on %d ranks: first %.0f, sum %.0f\n", N, N, size, all[0], sum);
    }
    free(A);
    free(B);
    free(C);
    free(left);
    free(upper);
    free(all);
    MPI_Comm_free(&row);
    MPI_Comm_free(&col);
    MPI_Comm_free(&grid);
    MPI_Finalize();
}
