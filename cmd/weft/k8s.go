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

const k8sHelp = `Prints what Kubernetes needs to run PROGRAM of IMAGE as the ranks of a job: a secret,
a headless service, and an Indexed Job with a pod for each rank; with -jobset a JobSet,
which must be installed in the cluster, in place of service and Job. Nothing else
is needed: no operator, no sidecar, no permission to ask the cluster anything.

The secret is made afresh each time, and lets a program into the job. Use the output
for one job, and keep it to yourself.

EXAMPLES
  weft k8s -n 8 -image registry.example/is:1 -- /program -class A | kubectl apply -f -
  kubectl logs -f job/program
  weft k8s -n 8 -name is -cpu 2 -memory 4Gi -image registry.example/is:1 -- /program >is.yaml
  weft k8s -n 8 -jobset -restart 3 -image registry.example/is:1 -- /program

docs/KUBERNETES.md has a Dockerfile, and tells what talks to what.`

func k8sCommand() *ffcli.Command {
	var j manifest.Job
	fs := flag.NewFlagSet("weft k8s", flag.ContinueOnError)
	fs.IntVar(&j.N, "n", 1, "number of ranks")
	fs.IntVar(&j.PerPod, "per-pod", 1, "ranks in each pod, as containers that share memory")
	fs.StringVar(&j.Image, "image", "", "the image that holds PROGRAM")
	fs.StringVar(&j.Name, "name", "", "of the job (default: after PROGRAM)")
	fs.StringVar(&j.Namespace, "namespace", "", "of all that is made (default: what kubectl is set to)")
	fs.StringVar(&j.CPU, "cpu", "", "processors for each rank, such as 2 or 500m (default: what the namespace gives)")
	fs.StringVar(&j.Memory, "memory", "", "memory for each rank, such as 4Gi (default: what the namespace gives)")
	fs.StringVar(&j.Shm, "shm", "64Mi", "size of /dev/shm, for programs that use it; weft does not, and what is in it counts as memory")
	fs.StringVar(&j.Raw, "raw", "", "interface of the pods for raw Ethernet: runs as root with CAP_NET_RAW, and pays only where pods share a segment")
	fs.BoolVar(&j.JobSet, "jobset", false, "print a JobSet (jobset.x-k8s.io) in place of a Job")
	fs.IntVar(&j.Restarts, "restart", 0, "start all ranks again after a failure, so many times; needs -jobset")
	fs.IntVar(&j.Port, "port", 61060, "where rank 0 listens for the others while the job starts")
	fs.DurationVar(&j.Timeout, "timeout", 0, "have the cluster end the job after this time (default never)")
	fs.Func("x", "`NAME=value` in the environment of the ranks; may be given several times", func(text string) error {
		j.Env = append(j.Env, text)
		return nil
	})
	return &ffcli.Command{
		Name: "k8s", ShortUsage: "weft k8s -n N -image IMAGE [FLAGS] -- PROGRAM [ARGS]", ShortHelp: "print Kubernetes manifests for a job",
		LongHelp: k8sHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error { return k8s(j, args) },
	}
}

func k8s(j manifest.Job, args []string) error {
	if len(args) == 0 {
		return errors.New("k8s: which program? For example: weft k8s -n 8 -image registry.example/is:1 -- /program -class A")
	}
	j.Program, j.Args, j.Secret = args[0], args[1:], bootstrap.NewSecret()
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
