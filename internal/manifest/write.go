package manifest

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"text/template"
)

// replicatedJob is the name of the one job of a JobSet, which is part of its pods' names.
const replicatedJob = "ranks"

// user is the number of the user as which the program runs: the unprivileged one of distroless images.
const user = 65532

//go:embed manifests.yaml.tmpl
var text string

var manifests = template.Must(template.New("manifests").Funcs(template.FuncMap{
	"quote":   strconv.QuoteToASCII, // whose escapes are all YAML's, too
	"literal": literal,
	"indent":  indent,
	"named":   func(j *Job, name string) map[string]any { return map[string]any{"job": j, "name": name} },
}).Parse(text))

// A page is a Job, as the template sees it.
type page struct {
	*Job
	Containers                                                 []container
	User                                                       int
	SecretHex, SecretName, SecretDir, SecretKey, ReplicatedJob string
	TimeoutSeconds                                             int64
}

// A container runs one rank.
type container struct {
	Name    string
	Env     []envVar
	Listens bool // the rank is 0 in the first of the pods
}

// Write writes the manifests of a job. If the job is not valid, the error is an
// InvalidError, and nothing is written.
func Write(w io.Writer, j *Job) error {
	if err := j.check(); err != nil {
		return err
	}
	p := page{
		Job: j, User: user, SecretHex: hex.EncodeToString(j.Secret), SecretName: j.secretName(),
		SecretDir: secretDir, SecretKey: secretKey, ReplicatedJob: replicatedJob, TimeoutSeconds: int64(j.Timeout.Seconds()),
	}
	for i := range j.PerPod {
		p.Containers = append(p.Containers, container{"rank-" + strconv.Itoa(i), j.env(i), i == 0})
	}
	var b bytes.Buffer
	if err := manifests.ExecuteTemplate(&b, "manifests", p); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

// Spec returns the specification of the Indexed Job, to be set in where it belongs.
func (p page) Spec() (string, error) {
	var b strings.Builder
	err := manifests.ExecuteTemplate(&b, "spec", p)
	return b.String(), err
}

// indent moves lines to the right.
func indent(blanks int, lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		if line != "\n" {
			b.WriteString(strings.Repeat(" ", blanks))
		}
		b.WriteString(line)
	}
	return b.String()
}
