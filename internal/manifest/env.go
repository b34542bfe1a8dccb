package manifest

import (
	"fmt"
	"strings"
)

// completionIndex is the variable by which an Indexed Job tells a container its pod's
// number.
const completionIndex = "JOB_COMPLETION_INDEX"

// localRank is the variable by which a container of several in a pod knows its rank there.
const localRank = "WEFT_LOCAL_RANK"

// restartLabel is where a JobSet writes how often it has started the job again.
const restartLabel = "metadata.annotations['jobset.sigs.k8s.io/restart-attempt']"

// secretDir is where the secret is mounted, and secretKey its file there.
const (
	secretDir = "/run/secrets/weft"
	secretKey = "secret"
)

// An envVar is one of a container's environment: a value, or where the pod has it.
type envVar struct{ Name, Value, Field string }

// fixedEnv returns the environment by which a rank finds its job, but for the variable
// that Kubernetes itself sets.
func (j *Job) fixedEnv() []envVar {
	env := []envVar{
		{Name: "WEFT_SIZE", Value: fmt.Sprint(j.N)},
		{Name: "WEFT_RENDEZVOUS", Value: j.Rendezvous()},
		{Name: "WEFT_SECRET_FILE", Value: secretDir + "/" + secretKey},
		{Name: "WEFT_BIND", Field: "status.podIP"},
	}
	if j.PerPod > 1 {
		env = append(env, envVar{Name: "WEFT_LOCAL_SIZE", Value: fmt.Sprint(j.PerPod)})
	}
	if j.JobSet {
		env = append(env, envVar{Name: "WEFT_RESTART", Field: restartLabel})
	}
	if j.Raw != "" {
		env = append(env, envVar{Name: "WEFT_INTERFACE", Value: j.Raw})
	}
	return env
}

// env returns the environment of one of a pod's containers.
func (j *Job) env(container int) []envVar {
	env := j.fixedEnv()
	if j.PerPod > 1 {
		env = append(env, envVar{Name: localRank, Value: fmt.Sprint(container)})
	}
	for _, text := range j.Env {
		name, value, _ := strings.Cut(text, "=")
		env = append(env, envVar{Name: name, Value: literal(value)})
	}
	return env
}

// literal returns text that Kubernetes, which expands $(NAME) and takes $$ for $, leaves
// as text was.
func literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }
