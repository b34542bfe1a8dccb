/* Heat spreads over a plate: a Jacobi iteration on a grid of ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 120, STEPS = 200 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int size, rank, up, down, left, right;
    int dims[2] = {0, 0}, periods[2] = {0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);

    int rows = N / dims[0], cols = N / dims[1], width = cols + 2;
    double *u = calloc((rows + 2) * width, sizeof(double));
    double *v = calloc((rows + 2) * width, sizeof(double));
    if (up == MPI_PROC_NULL) {
        for (int j = 0; j < width; j++) {
            u[j] = v[j] = 1; /* the upper edge is hot */
        }
    }
    MPI_Datatype column;
    MPI_Type_vector(rows, 1, width, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);

    double change;
    for (int step = 0; step < STEPS; step++) {
        MPI_Sendrecv(u + width + 1, cols, MPI_DOUBLE, up, 0,
                     u + (rows + 1) * width + 1, cols, MPI_DOUBLE, down, 0, grid, MPI_STATUS_IGNORE);
        MPI_Sendrecv(u + rows * width + 1, cols, MPI_DOUBLE, down, 0,
                     u + 1, cols, MPI_DOUBLE, up, 0, grid, MPI_STATUS_IGNORE);
        MPI_Sendrecv(u + width + 1, 1, column, left, 0,
                     u + width + cols + 1, 1, column, right, 0, grid, MPI_STATUS_IGNORE);
        MPI_Sendrecv(u + width + cols, 1, column, right, 0,
                     u + width, 1, column, left, 0, grid, MPI_STATUS_IGNORE);
        change = 0;
        for (int i = 1; i <= rows; i++) {
            for (int j = 1; j <= cols; j++) {
                int k = i * width + j;
                v[k] = (u[k - 1] + u[k + 1] + u[k - width] + u[k + width]) / 4;
                change = fmax(change, fabs(v[k] - u[k]));
            }
        }
        double *t = u;
        u = v;
        v = t;
        MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, grid);
    }

    double heat = 0, all;
    for (int i = 1; i <= rows; i++) {
        for (int j = 1; j <= cols; j++) {
            heat += u[i * width + j];
        }
    }
    MPI_Reduce(&heat, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
    if (rank == 0) {
        printf("after %d steps: heat %.6f, last change %.6f\n", STEPS, all, change);
    }
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    free(u);
    free(v);
    MPI_Finalize();
}
