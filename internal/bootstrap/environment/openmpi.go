package environment

import "cmp"

// readOpenMPI reads what Open MPI's mpirun sets. Its processes meet by PMIx, which weft does not
// speak, so that the user must say where they meet.
func readOpenMPI(e Environment) (p Plan, err error) {
	if p.Rank, err = e.number("OMPI_COMM_WORLD_RANK"); err != nil {
		return p, err
	}
	if p.Size, err = e.number("OMPI_COMM_WORLD_SIZE"); err != nil {
		return p, err
	}
	p.Label = "ompi " + cmp.Or(e.Get("PMIX_NAMESPACE"), e.Get("OMPI_MCA_ess_base_jobid"))
	if p.Size > 1 && e.Get(EnvRendezvous) == "" {
		return p, &MissingVariable{EnvRendezvous,
			"mpirun of Open MPI lets its processes meet by PMIx, which weft does not speak. " +
				"Start the program with weft run -hosts, or MPICH's mpiexec; or say where rank 0 is, mpirun -x " + EnvRendezvous +
				"=HOST -x " + EnvSecret}
	}
	return p, nil
}
