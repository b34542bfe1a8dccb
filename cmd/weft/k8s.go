package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/bootstrap"
	"weft/internal/manifest"
)

const k8sHelp = `Prints the manifests with which Kubernetes runs PROGRAM, from the container image IMAGE,
as the ranks of a job: a Secret, a headless Service, and an Indexed Job with a pod for
each rank. With -jobset it prints a JobSet, which the cluster must have installed, in
place of the Service and the Job. The job needs no operator, no sidecar, and no access
to the Kubernetes API.

Every output has a new secret, which admits a process to the job: use each output for
one job, and keep it private.

EXAMPLES
  weft k8s -n 8 -image registry.example/is:1 -- /program -class A | kubectl apply -f -
  kubectl logs -f job/program
  weft k8s -n 8 -name is -cpu 2 -memory 4Gi -image registry.example/is:1 -- /program >is.yaml
  weft k8s -n 8 -jobset -restart 3 -image registry.example/is:1 -- /program

docs/KUBERNETES.md has a Dockerfile, and lists the connections between the pods.`

func k8sCommand() *ffcli.Command {
	var j manifest.Job
	fs := flag.NewFlagSet("weft k8s", flag.ContinueOnError)
	fs.IntVar(&j.N, "n", 1, "number of ranks")
	fs.IntVar(&j.PerPod, "per-pod", 1, "ranks in each pod, as containers that share memory")
	fs.StringVar(&j.Image, "image", "", "container image that holds PROGRAM")
	fs.StringVar(&j.Name, "name", "", "name of the job (default: made from PROGRAM)")
	fs.StringVar(&j.Namespace, "namespace", "", "namespace of all objects (default: that of kubectl)")
	fs.StringVar(&j.CPU, "cpu", "", "processors for each rank, such as 2 or 500m (default: that of the namespace)")
	fs.StringVar(&j.Memory, "memory", "", "memory for each rank, such as 4Gi (default: that of the namespace)")
	fs.StringVar(&j.Shm, "shm", "64Mi",
		"size of /dev/shm for programs that use it, which counts as memory; weft does not use it")
	fs.StringVar(&j.Raw, "raw", "",
		"interface of the pods for raw Ethernet, which helps only pods on one segment; they run as root with CAP_NET_RAW")
	fs.BoolVar(&j.JobSet, "jobset", false, "print a JobSet (jobset.x-k8s.io) in place of a Job")
	fs.IntVar(&j.Restarts, "restart", 0, "start all ranks again after a failure, up to this many times; needs -jobset")
	fs.IntVar(&j.Port, "port", 61060, "port on which rank 0 accepts the other ranks when the job starts")
	fs.DurationVar(&j.Timeout, "timeout", 0, "make the cluster end the job after this time (default never)")
	fs.Func("x", "`NAME=value` in the environment of the ranks; may be given several times", func(text string) error {
		j.Env = append(j.Env, text)
		return nil
	})
	return &ffcli.Command{
		Name:       "k8s",
		ShortUsage: "weft k8s -n N -image IMAGE [FLAGS] -- PROGRAM [ARGS]",
		ShortHelp:  "print Kubernetes manifests for a job",
		LongHelp:   k8sHelp,
		FlagSet:    fs,
		Exec:       func(_ context.Context, args []string) error { return k8s(j, args) },
	}
}

func k8s(j manifest.Job, args []string) error {
	if len(args) == 0 {
		return errors.New("k8s: which program? For example: weft k8s -n 8 -image registry.example/is:1 -- /program -class A")
	}
	j.Program = args[0]
	j.Args = args[1:]
	j.Secret = bootstrap.NewSecret()
	if j.Name == "" {
		j.Name = manifest.NameFor(j.Program)
	}
	err := manifest.Write(os.Stdout, &j)
	var invalid *manifest.InvalidError
	if errors.As(err, &invalid) && strings.HasPrefix(invalid.Field, "-") {
		return fmt.Errorf("k8s: %w; weft k8s -h lists the flags", err)
	}
	if err != nil {
		return fmt.Errorf("k8s: %w", err)
	}
	return nil
}
