/* Rank 1 is killed while the others wait for it. */
#include <mpi.h>
#include <signal.h>

int main(int argc, char **argv)
{
	int rank, word = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		raise(SIGKILL);
	MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
