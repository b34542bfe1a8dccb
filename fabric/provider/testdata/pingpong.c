/* What a message takes one way, of some lengths: the best of some rounds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static const struct {
		int length, times;
	} all[] = { { 8, 500 }, { 1024, 500 }, { 65536, 50 }, { 1 << 20, 10 } };
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int k = 0; k < (int)(sizeof all / sizeof *all); k++) {
		char *b = calloc(1, all[k].length);
		double best = 1e9;
		for (int round = 0; round < 20; round++) {
			double t = MPI_Wtime();
			for (int i = 0; i < all[k].times; i++) {
				if (rank == 0)
					MPI_Send(b, all[k].length, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
				MPI_Recv(b, all[k].length, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				if (rank == 1)
					MPI_Send(b, all[k].length, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
			}
			t = (MPI_Wtime() - t) / all[k].times / 2 * 1e6;
			best = t < best ? t : best;
		}
		if (rank == 0)
			printf("%d B %.2f us  ", all[k].length, best);
		free(b);
	}
	if (rank == 0)
		printf("\n");
	MPI_Finalize();
	return 0;
}
