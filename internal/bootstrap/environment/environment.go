package environment

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Variables of our own. The first four are enough to start a job by hand; the others add to
// what a launcher says, or overrule it.
const (
	EnvLauncher   = "WEFT_LAUNCHER"
	EnvRank       = "WEFT_RANK"
	EnvSize       = "WEFT_SIZE"
	EnvRendezvous = "WEFT_RENDEZVOUS"
	EnvSecret     = "WEFT_SECRET"
	EnvSecretFile = "WEFT_SECRET_FILE"
	EnvTrust      = "WEFT_TRUST_NETWORK"
	EnvTransport  = "WEFT_TRANSPORT"
	EnvLiveness   = "WEFT_LIVENESS"
	EnvLocalRank  = "WEFT_LOCAL_RANK" // of a container, in a pod of several
	EnvLocalSize  = "WEFT_LOCAL_SIZE"
	EnvRestart    = "WEFT_RESTART" // how often the job was started again
)

// DefaultPort is where rank 0 serves if nothing says otherwise: no port that systems give to
// connections by themselves.
const DefaultPort = 61060

// An Environment is what a process can be recognized by.
type Environment struct {
	Get   func(name string) string // a variable; "" if it is not set
	Name  string                   // of this host
	Names func() []string          // all that this host calls itself, as in /etc/hosts
}

// ThisProcess returns the environment of this process.
func ThisProcess() Environment {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	return Environment{Get: os.Getenv, Name: name, Names: ownNames}
}

// ownNames returns the names in /etc/hosts.
func ownNames() (names []string) {
	text, err := os.ReadFile("/etc/hosts")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 1 {
			names = append(names, words[1:]...)
		}
	}
	return names
}

// A Way is one of those by which a program can have been started.
type Way struct {
	Name  string   // as WEFT_LAUNCHER says it
	Title string   // for people
	Marks []string // variables that say that it is this one: all are set
	read  func(e Environment) (Plan, error)

	// Parent begins the name of the launcher's process on each host, with whose end a rank ends; "" where nothing is
	// known of that.
	Parent string
}

// ways are all of them: the first one found counts. A launcher that another one has started
// stands before it: its variables are those of the process itself.
var ways = []Way{
	{"weft", "variables of weft's own", []string{EnvRank}, readOwn, ""},
	{"pmi", "PMI: Hydra's mpiexec, srun --mpi=pmi2, Flux", []string{"PMI_FD"}, readPMI, ""},
	{"pmi", "PMI over TCP: mpiexec -pmi-port", []string{"PMI_PORT", "PMI_ID"}, readPMI, ""},
	{"ompi", "Open MPI's mpirun", []string{"OMPI_COMM_WORLD_RANK"}, readOpenMPI, ""},
	{"torchrun", "torchrun", []string{"TORCHELASTIC_RUN_ID", "RANK"}, readTorch, ""},
	{"slurm", "srun without PMI", []string{"SLURM_STEP_ID", "SLURM_PROCID"}, readSlurm, "slurmstepd"},
	{"torch", "RANK and WORLD_SIZE, as PyTorch's launchers set them", []string{"RANK", "WORLD_SIZE"}, readTorch, ""},
	{"pet", "PET_*, as Kubeflow's Trainer sets them", []string{"PET_NODE_RANK"}, readPET, ""},
	{"lws", "Kubernetes LeaderWorkerSet", []string{"LWS_WORKER_INDEX"}, readLWS, ""},
	{"kubernetes", "Kubernetes Indexed Job", []string{"JOB_COMPLETION_INDEX"}, readIndexedJob, ""},
	{"etcd", "etcd gives the ranks", []string{EnvSize, EnvRendezvous}, readClaimed, ""},
}

// None is the name of the way of a process that nobody has started as a rank.
const None = "none"

// Unclaimed is the rank of a process that is to get one from etcd.
const Unclaimed = -1

// A Plan is how this process becomes a rank.
type Plan struct {
	Way        Way
	Rank, Size int    // Unclaimed, and both unknown with PMI before it has been asked
	Host       string // what the launcher calls this host; "" if it does not say
	Label      string // what the launcher calls the job: another one for each job, the same in all its ranks
	Hosts      []string
	Ports      []int  // rank 0 serves on the first that is free; with each of the hosts, where others look
	Etcd       string // where the ranks meet instead; "" for nowhere
	Secret     []byte // by which ranks recognize each other; nil if rank 0 makes one
	Trusted    bool   // the user trusts the network instead
}

// Recognize says how a process was started. A way that is found, and lacks something, is an
// error that says what. Without any the plan's way has the name None.
func Recognize(e Environment) (Plan, error) {
	wanted := e.Get(EnvLauncher)
	if wanted == None {
		return Plan{Way: Way{Name: None, Title: EnvLauncher + "=" + None}, Size: 1}, nil
	}
	if wanted != "" && !slices.ContainsFunc(ways, func(w Way) bool { return w.Name == wanted }) {
		return Plan{}, fmt.Errorf("weft: %s=%q: must be %s, or %s", EnvLauncher, wanted, strings.Join(names(), ", "), None)
	}
	for _, w := range ways {
		if !w.found(e) || wanted != "" && w.Name != wanted {
			continue
		}
		p, err := w.read(e)
		p.Way = w
		if err == nil {
			err = p.complete(e)
		}
		if err != nil {
			return p, fmt.Errorf("weft: this process was started by %s (%s): %w", w.Title, w.say(e), err)
		}
		return p, nil
	}
	if wanted != "" {
		return Plan{}, fmt.Errorf("weft: %s=%s, and the variables of that are not set: %s", EnvLauncher, wanted,
			marks(wanted))
	}
	return Plan{Way: Way{Name: None, Title: "nobody"}, Size: 1}, nil
}

// names returns the names of all ways.
func names() (all []string) {
	for _, w := range ways {
		if !slices.Contains(all, w.Name) {
			all = append(all, w.Name)
		}
	}
	return all
}

// marks returns by what a way is found.
func marks(name string) string {
	var all []string
	for _, w := range ways {
		if w.Name == name {
			all = append(all, strings.Join(w.Marks, " and "))
		}
	}
	return strings.Join(all, ", or ")
}

// found reports whether the environment has all marks of a way.
func (w Way) found(e Environment) bool {
	for _, name := range w.Marks {
		if e.Get(name) == "" {
			return false
		}
	}
	return true
}

// say returns the marks with their values.
func (w Way) say(e Environment) string {
	var said []string
	for _, name := range w.Marks {
		said = append(said, name+"="+e.Get(name))
	}
	return strings.Join(said, " ")
}

// maxSize is how many ranks a job may have.
const maxSize = 1 << 20

// number returns a variable that must be a number from 0 to maxSize.
func (e Environment) number(name string) (int, error) {
	text := e.Get(name)
	if text == "" {
		return 0, &MissingVariable{Name: name}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxSize {
		return 0, fmt.Errorf("%s=%q: must be a number from 0 to %d", name, text, maxSize)
	}
	return n, nil
}

// A MissingVariable says which variable of the environment lacks, and what to do.
type MissingVariable struct{ Name, Do string }

// Error names the variable, and what to do.
func (m *MissingVariable) Error() string {
	if m.Do == "" {
		return m.Name + " is not set"
	}
	return m.Name + " is not set: " + m.Do
}

// complete adds what our own variables say to what the launcher has said, and finds what lacks.
func (p *Plan) complete(e Environment) error {
	if e.Get(EnvSize) != "" {
		n, err := e.number(EnvSize)
		if err != nil {
			return err
		}
		p.Size = n
	}
	if n := e.Get(EnvRestart); n != "" {
		p.Label += ", restart " + n
	}
	known := p.Way.Name != "pmi" // which asks for the numbers
	switch {
	case known && p.Size < 1:
		return fmt.Errorf("a job of %d ranks: must be at least 1", p.Size)
	case known && p.Rank >= p.Size:
		return fmt.Errorf("rank %d of %d: must be from 0 to %d", p.Rank, p.Size, p.Size-1)
	case known && p.Size == 1:
		return nil
	}
	if err := p.rendezvous(e.Get(EnvRendezvous)); err != nil {
		return err
	}
	if known && p.Etcd == "" && len(p.Hosts) == 0 {
		return &MissingVariable{EnvRendezvous, "where is rank 0? Set it to HOST:PORT of rank 0 in all ranks"}
	}
	return p.secret(e)
}

// rendezvous takes WEFT_RENDEZVOUS.
func (p *Plan) rendezvous(text string) error {
	if text == "" {
		return nil
	}
	if strings.HasPrefix(text, "etcd://") {
		p.Etcd = text
		p.Hosts = nil
		p.Ports = nil
		return nil
	}
	host, port, err := splitPort(text, DefaultPort)
	if err != nil {
		return fmt.Errorf("%s=%q: %w", EnvRendezvous, text, err)
	}
	p.Etcd = ""
	p.Hosts = []string{host}
	p.Ports = []int{port}
	return nil
}

// secret finds the job's secret, or that none is needed.
func (p *Plan) secret(e Environment) error {
	text, err := readSecret(e)
	if err != nil {
		return err
	}
	switch p.Trusted = e.Get(EnvTrust) == "1"; {
	case text != nil:
		p.Secret = text
		p.Trusted = false
	case p.Way.Name == "pmi" && p.Etcd == "":
		// Rank 0 makes one, and PMI hands it to the others.
	case p.Trusted:
	default:
		return &MissingVariable{EnvSecret,
			fmt.Sprintf("ranks recognize each other by it. Set it, or %s, to the same in all ranks (head -c 32 /dev/urandom "+
				"| base64 makes one); "+
				"where only the job's user reaches its hosts, %s=1 does without", EnvSecretFile, EnvTrust)}
	}
	return nil
}

// trustedSecret stands in for the secret of a job without one: it keeps nobody out.
const trustedSecret = "weft: the user trusts the network"

// key returns by what ranks recognize each other.
func (p *Plan) key() []byte {
	if p.Secret == nil && p.Trusted {
		return []byte(trustedSecret)
	}
	return p.Secret
}

// errPort is what is wrong with an address that names no host, or no number as its port.
var errPort = errors.New("must be HOST or HOST:PORT")
