/* A matrix in a file: each rank writes its block, and reads that of the next rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 240 };

static MPI_Datatype block(MPI_Comm grid, int rank, const int *dims, int *from) {
    int shape[2] = {N, N}, size[2] = {N / dims[0], N / dims[1]};
    MPI_Datatype type;
    MPI_Cart_coords(grid, rank, 2, from);
    from[0] *= size[0];
    from[1] *= size[1];
    MPI_Type_create_subarray(2, shape, size, from, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int size, rank, from[2], dims[2] = {0, 0}, periods[2] = {0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    if (N % dims[0] != 0 || N % dims[1] != 0) {
        fprintf(stderr, "a grid of %d x %d ranks does not divide %d rows\n", dims[0], dims[1], N);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }

    int rows = N / dims[0], cols = N / dims[1];
    double *a = malloc(rows * cols * sizeof(double));
    MPI_Datatype own = block(grid, rank, dims, from);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            a[i * cols + j] = (from[0] + i) * N + from[1] + j;
        }
    }
    MPI_File file;
    MPI_File_open(grid, "matrix.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_DOUBLE, own, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, 0, a, rows * cols, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);

    MPI_Datatype other = block(grid, (rank + 1) % size, dims, from);
    MPI_File_set_view(file, 0, MPI_DOUBLE, other, "native", MPI_INFO_NULL);
    MPI_File_read_at_all(file, 0, a, rows * cols, MPI_DOUBLE, MPI_STATUS_IGNORE);
    double sum[2] = {0, 0}, all[2]; /* the sum of the elements, and how many are wrong */
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            sum[0] += a[i * cols + j];
            sum[1] += a[i * cols + j] != (from[0] + i) * N + from[1] + j;
        }
    }
    MPI_Reduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, 0, grid);
    if (rank == 0) {
        printf("%d x %d elements, sum %.0f, %.0f wrong\n", N, N, all[0], all[1]);
    }
    MPI_File_close(&file);
    MPI_Type_free(&own);
    MPI_Type_free(&other);
    MPI_Comm_free(&grid);
    free(a);
    MPI_Finalize();
}
