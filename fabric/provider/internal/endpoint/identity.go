package endpoint

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync/atomic"
)

// An identity is what a process knows of its job.
type identity struct {
	id     int    // of the endpoint, the same for all others
	job    uint64 // the same for all endpoints of the job
	secret []byte // likewise
	shared bool   // nobody else knows the secret
}

// maxID is how many endpoints a job may have.
const maxID = 1 << 20

// launchers lists the variables in which launchers say which rank a process is, and how many there are.
var launchers = [...][2]string{
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"PMI_RANK", "PMI_SIZE"},
	{"SLURM_PROCID", "SLURM_NTASKS"},
}

// jobs lists variables that are the same for all ranks of a job, and differ from job to job.
var jobs = [...]string{"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"}

// transportKey is the variable in which Open MPI gives the ranks of a job a random key for their network.
const transportKey = "OMPI_MCA_orte_precondition_transports"

// opened counts the endpoints of this process.
var opened atomic.Int64

// identify returns what the environment says. Ranks of a launcher have numbers without gaps: the first endpoint of each
// has its rank, the second ones follow. Without a launcher an endpoint draws a number, of the upper half.
func identify(env func(string) string) (identity, error) {
	var who identity
	key := env(transportKey)
	who.shared = key != ""
	hash := sha256.New()
	fmt.Fprintf(hash, "weft provider\n%q\n", key)
	secret := hash.Sum(nil)
	who.secret = secret
	for _, variable := range jobs {
		fmt.Fprintf(hash, "%q\n", env(variable))
	}
	who.job = binary.LittleEndian.Uint64(hash.Sum(nil))
	before := int(opened.Add(1) - 1)
	for _, l := range launchers {
		rank, err := strconv.Atoi(env(l[0]))
		size, bad := strconv.Atoi(env(l[1]))
		if err != nil || bad != nil || rank < 0 || rank >= size {
			continue
		}
		if size > maxID/2 || before > maxID/2/size-1 {
			return who, fmt.Errorf("weft: %d endpoints of each of %d ranks: a job has %d at most", before+1, size, maxID/2)
		}
		who.id = rank + size*before
		return who, nil
	}
	who.id = maxID/2 + int(random()%(maxID/2))
	return who, nil
}

// random returns a number that nobody can foresee.
func random() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}
