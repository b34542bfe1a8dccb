package manifest

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// root is the directory of the module.
const root = "../.."

// The Dockerfile's version of Go is that of go.mod, and its user is the one in the manifests.
func TestDockerfileAgrees(t *testing.T) {
	docker := read(t, "Dockerfile")
	mod := read(t, "go.mod")
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(mod)
	if version == nil || !strings.Contains(docker, "FROM golang:"+version[1]+" AS build") {
		t.Errorf("go.mod says go %v, the Dockerfile has another", version)
	}
	if !strings.Contains(docker, "\nUSER 65532:65532\n") || user != 65532 {
		t.Errorf("the Dockerfile's USER is not %d", user)
	}
}

// What the Dockerfile's line builds needs nothing of an image: it is static, and runs
// where there is no other file, as nobody in particular.
func TestDockerfileBuildsStatic(t *testing.T) {
	line := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*)$`).FindStringSubmatch(read(t, "Dockerfile"))
	if line == nil {
		t.Fatal("the Dockerfile has no line that builds")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	build := exec.Command("sh", "-c", strings.ReplaceAll(line[1], "-o /program", "-o "+program))
	build.Dir = root
	build.Env = append(os.Environ(), "PROGRAM=./examples/hello")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program is not static: it has %v", p.Type)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("running it in an empty directory needs root")
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("/program")
	run.Env = []string{}
	run.Dir = "/"
	run.SysProcAttr = &syscall.SysProcAttr{Chroot: dir, Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "rank 0 of 1") {
		t.Errorf("%v\n%s", err, out)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
