/* Bodies attract each other: copies of them go around a ring of ranks, while each rank adds the forces on its own. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { N = 32, STEPS = 20 };

typedef struct {
    double x, y, mass;
} body;

static body own[N], guests[N];
static double vx[N], vy[N], ax[N], ay[N];

static double attract(void) {
    double potential = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double dx = guests[j].x - own[i].x, dy = guests[j].y - own[i].y;
            double r2 = dx * dx + dy * dy + 0.01, r = sqrt(r2);
            ax[i] += guests[j].mass * dx / (r2 * r);
            ay[i] += guests[j].mass * dy / (r2 * r);
            potential -= own[i].mass * guests[j].mass / r / 2;
        }
    }
    return potential;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, left, right, periodic = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Comm_rank(ring, &rank);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);

    for (int i = 0; i < N; i++) {
        int k = rank * N + i;
        own[i].x = k * 37 % 101 / 50.0;
        own[i].y = k * 53 % 103 / 50.0;
        own[i].mass = (k % 3 + 1) / 100.0;
    }
    double energy, all;
    for (int step = 0; step < STEPS; step++) {
        energy = 0;
        memset(ax, 0, sizeof(ax));
        memset(ay, 0, sizeof(ay));
        memcpy(guests, own, sizeof(own));
        for (int hop = 0; hop < size; hop++) {
            energy += attract();
            MPI_Sendrecv_replace(guests, N, type, right, 0, left, 0, ring, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < N; i++) {
            energy += own[i].mass * (vx[i] * vx[i] + vy[i] * vy[i]) / 2;
            vx[i] += ax[i] * 0.01;
            vy[i] += ay[i] * 0.01;
            own[i].x += vx[i] * 0.01;
            own[i].y += vy[i] * 0.01;
        }
    }
    MPI_Reduce(&energy, &all, 1, MPI_DOUBLE, MPI_SUM, 0, ring);
    if (rank == 0) {
        printf("%d bodies after %d steps: energy %.9f\n", size * N, STEPS, all);
    }
    MPI_Type_free(&type);
    MPI_Comm_free(&ring);
    MPI_Finalize();
}
