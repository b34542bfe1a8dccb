package manifest

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write what is printed as what is wanted")

// plain is the least that a job says.
func plain() Job {
	return Job{
		Name: "is", Image: "registry.example/is:1", Program: "/program", N: 8, PerPod: 1, Port: 61060, Shm: "64Mi",
		Secret: []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f" +
			"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"),
	}
}

func with(change func(*Job)) Job {
	j := plain()
	change(&j)
	return j
}

func TestWhatIsPrinted(t *testing.T) {
	jobs := map[string]Job{
		"job": plain(),
		"all": with(func(j *Job) {
			j.Namespace = "hpc"
			j.CPU = "2"
			j.Memory = "4Gi"
			j.Shm = "1Gi"
			j.Timeout = time.Hour
			j.Args = []string{"-class", "A"}
			j.Env = []string{"WEFT_GUARD=encrypt"}
		}),
		"jobset": with(func(j *Job) {
			j.JobSet = true
			j.Restarts = 3
		}),
		"raw":     with(func(j *Job) { j.Raw = "net1" }),
		"per-pod": with(func(j *Job) { j.PerPod = 4 }),
	}
	for name, j := range jobs {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Write(&b, &j); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".yaml")
			if *rewrite {
				if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != string(want) {
				t.Errorf("%s is not what is printed; if that is meant: go test ./internal/manifest -rewrite\n%s", file, got)
			}
		})
	}
}

func TestInvalid(t *testing.T) {
	long := strings.Repeat("a", 62)
	for _, c := range []struct {
		want string // in the error
		job  Job
	}{
		{`-n "0": must be from 1 to 65536`, with(func(j *Job) { j.N = 0 })},
		{`-n "65537"`, with(func(j *Job) { j.N = 65537 })},
		{`-per-pod "3": must divide the 8 ranks`, with(func(j *Job) { j.PerPod = 3 })},
		{`-per-pod "0"`, with(func(j *Job) { j.PerPod = 0 })},
		{`-port "80": must be from 1024`, with(func(j *Job) { j.Port = 80 })},
		{`-name "IS": must be lower-case`, with(func(j *Job) { j.Name = "IS" })},
		{`-name "1is"`, with(func(j *Job) { j.Name = "1is" })},
		{`-name "is-"`, with(func(j *Job) { j.Name = "is-" })},
		{`-name "a.b"`, with(func(j *Job) { j.Name = "a.b" })},
		{`-name "is\nkind"`, with(func(j *Job) { j.Name = "is\nkind" })},
		{`choose a shorter -name`, with(func(j *Job) { j.Name = long })},
		{`must have at most 56`, with(func(j *Job) { j.Name = long[:57] })},
		{`choose a shorter -name`, with(func(j *Job) {
			j.Name = long[:54]
			j.JobSet = true
		})},
		{`-namespace "a_b"`, with(func(j *Job) { j.Namespace = "a_b" })},
		{`-image ""`, with(func(j *Job) { j.Image = "" })},
		{`-image "a b"`, with(func(j *Job) { j.Image = "a b" })},
		{`PROGRAM "./hello": must be a path in the image`, with(func(j *Job) { j.Program = "./hello" })},
		{`argument "\xff"`, with(func(j *Job) { j.Args = []string{"\xff"} })},
		{`argument "a\x00"`, with(func(j *Job) { j.Args = []string{"a\x00"} })},
		{`-cpu "two"`, with(func(j *Job) { j.CPU = "two" })},
		{`-cpu "-1"`, with(func(j *Job) { j.CPU = "-1" })},
		{`-cpu "0"`, with(func(j *Job) { j.CPU = "0" })},
		{`-memory "4GB"`, with(func(j *Job) { j.Memory = "4GB" })},
		{`thousandths of a byte`, with(func(j *Job) { j.Memory = "512m" })},
		{`-shm ""`, with(func(j *Job) { j.Shm = "" })},
		{`-raw "eth0 eth1"`, with(func(j *Job) { j.Raw = "eth0 eth1" })},
		{`-x "A": must be NAME=value`, with(func(j *Job) { j.Env = []string{"A"} })},
		{`-x "A-B=1"`, with(func(j *Job) { j.Env = []string{"A-B=1"} })},
		{`WEFT_SIZE is set already`, with(func(j *Job) { j.Env = []string{"WEFT_SIZE=9"} })},
		{`A is set already`, with(func(j *Job) { j.Env = []string{"A=1", "A=2"} })},
		{`differently for each pod`, with(func(j *Job) { j.Env = []string{"JOB_COMPLETION_INDEX=0"} })},
		{`-jobset starts all of them again`, with(func(j *Job) { j.Restarts = 1 })},
		{`-timeout "1ms": must be whole seconds`, with(func(j *Job) { j.Timeout = time.Millisecond })},
		{`a secret of 3 bytes`, with(func(j *Job) { j.Secret = []byte("abc") })},
	} {
		var b bytes.Buffer
		err := Write(&b, &c.job)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
		if b.Len() > 0 {
			t.Errorf("%q: something was written", c.want)
		}
	}
}

func TestLongestName(t *testing.T) {
	j := with(func(j *Job) { j.Name = strings.Repeat("a", 56) })
	if err := Write(&bytes.Buffer{}, &j); err != nil {
		t.Error(err)
	}
}

func TestNameFor(t *testing.T) {
	for program, want := range map[string]string{
		"/usr/bin/is": "is", "/Program.x": "program-x", "/a__b": "a-b", "/9lives": "lives", "/-": "weft", "/é": "weft",
		"/" + strings.Repeat("ab-", 20):  strings.Repeat("ab-", 13) + "a",
		"/" + strings.Repeat("abc-", 20): strings.TrimSuffix(strings.Repeat("abc-", 10), "-"),
	} {
		if got := NameFor(program); got != want {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}
