package manifest

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Job says what the manifests ask the cluster for. Text reaches the container as it is:
// Kubernetes' own $(NAME) is not expanded in it.
type Job struct {
	Name      string   // of the job, its service and its secret; a DNS label
	Namespace string   // empty means what kubectl is set to
	Image     string   // that holds Program
	Program   string   // a path in the image
	Args      []string // for Program
	Env       []string // NAME=value, for Program

	N        int // ranks
	PerPod   int // ranks in each pod, as containers of it; must divide N
	Port     int // where rank 0 listens for the others
	JobSet   bool
	Restarts int           // of the whole job after a failure; a JobSet only
	Timeout  time.Duration // after which the cluster ends the job; 0 means never

	CPU, Memory string // of each rank, such as "2" and "4Gi"; empty means what the namespace gives
	Shm         string // size of /dev/shm of each pod, which its ranks share
	Raw         string // interface for raw Ethernet, which asks for root and CAP_NET_RAW; empty means none

	Secret []byte // of the job, 32 bytes
}

// secretBytes is how long a job's secret is.
const secretBytes = 32

// Limits of what is checked here.
const (
	maxRanks = 1 << 16
	maxLabel = 63 // bytes of a DNS label (RFC 1123)
)

// ErrInvalid is what errors about a Job are, besides what they say.
var ErrInvalid = errors.New("not a valid Kubernetes job")

// An InvalidError says which part of a Job is wrong, and what would be right.
type InvalidError struct {
	Field string // as the flag of weft k8s that sets it
	Value string
	Want  string
}

func (e *InvalidError) Error() string { return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Want) }

// Is reports whether target is ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

var (
	label     = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	namespace = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	quantity  = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$`)
	variable  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	netdev    = regexp.MustCompile(`^[^/\s,]{1,15}(,[^/\s,]{1,15})*$`)
)

// check returns what is wrong with the job.
func (j *Job) check() error {
	checks := []func() error{j.checkSize, j.checkNames, j.checkProgram, j.checkResources, j.checkEnv}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkSize checks the numbers of ranks, of ranks to a pod, of the port and of restarts.
func (j *Job) checkSize() error {
	switch {
	case j.N < 1 || j.N > maxRanks:
		return &InvalidError{"-n", strconv.Itoa(j.N), fmt.Sprintf("must be from 1 to %d", maxRanks)}
	case j.PerPod < 1 || j.N%j.PerPod != 0:
		return &InvalidError{"-per-pod", strconv.Itoa(j.PerPod),
			fmt.Sprintf("must divide the %d ranks of -n, so that all pods are alike", j.N)}
	case j.Port < 1024 || j.Port > 65535:
		return &InvalidError{"-port", strconv.Itoa(j.Port),
			"must be from 1024 to 65535, which a program without privileges may listen on"}
	case j.Restarts < 0:
		return &InvalidError{"-restart", strconv.Itoa(j.Restarts), "must be 0 or more"}
	case j.Restarts > 0 && !j.JobSet:
		return &InvalidError{"-restart", strconv.Itoa(j.Restarts), "an Indexed Job starts a failed pod again alone, " +
			"and the others cannot go on with it; -jobset starts all of them again"}
	case j.Timeout < 0 || j.Timeout%time.Second != 0:
		return &InvalidError{"-timeout", j.Timeout.String(), "must be whole seconds, or 0 for never"}
	case len(j.Secret) != secretBytes:
		return fmt.Errorf("%w: a secret of %d bytes: must be %d", ErrInvalid, len(j.Secret), secretBytes)
	}
	return nil
}

// checkNames checks the names from which those of objects and hosts are made: Kubernetes refuses a longer host name
// than 63 characters only when it makes the pod, so it is refused here.
func (j *Job) checkNames() error {
	const rule = "must be lower-case letters, digits and -, beginning with a letter and not ending with - (RFC 1035, 1123)"
	if !label.MatchString(j.Name) {
		return &InvalidError{"-name", j.Name, rule}
	}
	if longest := j.pod(j.Pods() - 1); len(longest) > maxLabel {
		return &InvalidError{"-name", j.Name,
			fmt.Sprintf("the host name of the last pod, %s, would have %d characters: at most %d are allowed; choose a "+
				"shorter -name",
				longest, len(longest), maxLabel)}
	}
	if len(j.secretName()) > maxLabel {
		return &InvalidError{"-name", j.Name,
			fmt.Sprintf("must have at most %d characters", maxLabel-len(j.secretName())+len(j.Name))}
	}
	if j.Namespace != "" && (!namespace.MatchString(j.Namespace) || len(j.Namespace) > maxLabel) {
		return &InvalidError{"-namespace", j.Namespace,
			"must be lower-case letters, digits and -, at most 63, beginning and ending with a letter or digit (RFC 1123)"}
	}
	return nil
}

// checkProgram checks the image and the command line that the manifests hold.
func (j *Job) checkProgram() error {
	switch {
	case j.Image == "":
		return &InvalidError{"-image", j.Image, "which image holds the program? For example: -image registry.example/is:1"}
	case !printable(j.Image) || strings.ContainsAny(j.Image, " "):
		return &InvalidError{"-image", j.Image, "must be NAME, NAME:TAG or NAME@DIGEST, without blanks"}
	case j.Program == "":
		return &InvalidError{"PROGRAM", j.Program, "which program of the image is to run? For example: -- /program -class A"}
	case strings.HasPrefix(j.Program, "./"):
		return &InvalidError{"PROGRAM", j.Program,
			"must be a path in the image, such as /program: nothing is built or copied here; docs/KUBERNETES.md has a " +
				"Dockerfile"}
	}
	for _, text := range append([]string{j.Program}, j.Args...) {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return &InvalidError{"argument", text, "must be UTF-8 without NUL, as YAML is"}
		}
	}
	return nil
}

// checkResources checks quantities as Kubernetes writes them, and the interfaces for raw Ethernet.
func (j *Job) checkResources() error {
	for _, q := range []struct{ flag, value, example string }{
		{"-cpu", j.CPU, "2 or 500m"}, {"-memory", j.Memory, "4Gi or 512Mi"}, {"-shm", j.Shm, "64Mi"},
	} {
		if q.value == "" && q.flag != "-shm" {
			continue
		}
		if !quantity.MatchString(q.value) || strings.Trim(q.value, "0.mkMGTPEi") == "" {
			return &InvalidError{q.flag, q.value, "must be a Kubernetes quantity greater than 0, such as " + q.example}
		}
		if q.flag != "-cpu" && strings.HasSuffix(q.value, "m") {
			return &InvalidError{q.flag, q.value, "m means thousandths of a byte; Mi means mebibytes"}
		}
	}
	if j.Raw != "" && (!netdev.MatchString(j.Raw) || !printable(j.Raw)) {
		return &InvalidError{"-raw", j.Raw, "must be an interface of the pod, such as eth0 or net1, or several with commas"}
	}
	return nil
}

// checkEnv checks the variables that the user sets: none may be set by the manifests or by Kubernetes as well.
func (j *Job) checkEnv() error {
	seen := map[string]bool{localRank: j.PerPod > 1}
	for _, e := range j.fixedEnv() {
		seen[e.Name] = true
	}
	for _, text := range j.Env {
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok || !variable.MatchString(name):
			return &InvalidError{"-x", text, "must be NAME=value, the name of letters, digits and _"}
		case seen[name]:
			return &InvalidError{"-x", text, name + " is set already"}
		case name == completionIndex:
			return &InvalidError{"-x", text, "Kubernetes sets it, differently for each pod"}
		case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
			return &InvalidError{"-x", text, "must be UTF-8 without NUL, as YAML is"}
		}
		seen[name] = true
	}
	return nil
}

// printable reports whether text is ASCII that shows.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// Pods returns how many pods the job has.
func (j *Job) Pods() int { return j.N / j.PerPod }

// pod returns the host name of a pod.
func (j *Job) pod(index int) string {
	if j.JobSet {
		return fmt.Sprintf("%s-%s-0-%d", j.Name, replicatedJob, index)
	}
	return fmt.Sprintf("%s-%d", j.Name, index)
}

// Rendezvous returns where rank 0 is found: a name that the service keeps, and a port.
func (j *Job) Rendezvous() string { return fmt.Sprintf("%s.%s:%d", j.pod(0), j.Name, j.Port) }

func (j *Job) secretName() string { return j.Name + "-secret" }

// NameFor returns a name for the job of a program: the last part of its path, with what
// a DNS label cannot hold left out.
func NameFor(program string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(path.Base(program)) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9' && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if name := strings.Trim(b.String(), "-"); name != "" {
		return strings.TrimRight(name[:min(len(name), 40)], "-")
	}
	return "weft"
}
