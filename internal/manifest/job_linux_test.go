package manifest

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/bootstrap/environment"
	"weft/internal/programtest"
	"weft/internal/waittest"
)

// pods returns the environment of each container, as a cluster would make it of the
// manifests: by rank.
func pods(t *testing.T, j *Job, secretFile string) (ranks [][]string) {
	t.Helper()
	for pod := range j.Pods() {
		for c := range j.PerPod {
			env := []string{fmt.Sprintf("%s=%d", completionIndex, pod)}
			for _, v := range j.env(c) {
				switch {
				case v.Name == "WEFT_SECRET_FILE":
					v.Value = secretFile
				case v.Field == "status.podIP":
					v.Value = "127.0.0.1"
				case v.Field == restartLabel:
					v.Value = "0"
				}
				env = append(env, v.Name+"="+v.Value)
			}
			ranks = append(ranks, env)
		}
	}
	return ranks
}

// secretFile writes the secret as it is mounted.
func secretFile(t *testing.T, j *Job) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), secretKey)
	if err := os.WriteFile(name, []byte(hex.EncodeToString(j.Secret)), 0o440); err != nil {
		t.Fatal(err)
	}
	return name
}

// What the manifests say, programs understand: each container is the rank that it should be, looks for
// rank 0 where its pod is, and has the secret.
func TestRanksRecognizeThemselves(t *testing.T) {
	for name, j := range map[string]Job{
		"job": plain(), "jobset": with(func(j *Job) { j.JobSet = true }), "per-pod": with(func(j *Job) { j.PerPod = 4 }),
	} {
		t.Run(name, func(t *testing.T) {
			for rank, env := range pods(t, &j, secretFile(t, &j)) {
				vars := map[string]string{}
				for _, text := range env {
					name, value, _ := strings.Cut(text, "=")
					vars[name] = value
				}
				p, err := environment.Recognize(environment.Environment{
					Get: func(name string) string { return vars[name] }, Name: "elsewhere", Names: func() []string { return nil },
				})
				if err != nil {
					t.Fatalf("rank %d: %v", rank, err)
				}
				where := net.JoinHostPort(p.Hosts[0], fmt.Sprint(p.Ports[0]))
				if p.Way.Name != "kubernetes" || p.Rank != rank || p.Size != j.N || where != j.Rendezvous() ||
					string(p.Secret) != hex.EncodeToString(j.Secret) {
					t.Errorf("rank %d: %s, rank %d of %d, at %s", rank, p.Way.Name, p.Rank, p.Size, where)
				}
			}
		})
	}
}

// Processes with the environment of containers become a job; only the name of pod 0 is another
// one here.
func TestContainersBecomeAJob(t *testing.T) {
	hello := programtest.Make(t, t.TempDir(), "weft/examples/hello")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	j := with(func(j *Job) {
		j.N = 4
		j.PerPod = 2
	})
	at := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	var all []*exec.Cmd
	for _, env := range pods(t, &j, secretFile(t, &j)) {
		for i, text := range env {
			if strings.HasPrefix(text, "WEFT_RENDEZVOUS=") {
				env[i] = "WEFT_RENDEZVOUS=" + at
			}
		}
		cmd := exec.CommandContext(ctx, hello)
		cmd.Env = env
		var out bytes.Buffer
		cmd.Stdout = &out
		cmd.Stderr = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for rank, cmd := range all {
		err := cmd.Wait()
		if said := cmd.Stdout.(*bytes.Buffer).String(); err != nil ||
			!strings.Contains(said, fmt.Sprintf("rank %d of 4 received", rank)) {
			t.Errorf("rank %d: %v: %s", rank, err, said)
		}
	}
}
