package sys

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// envAncestor makes the test's executable a process that says when its nearest ancestor of that name has ended.
const envAncestor = "WEFT_TEST_ANCESTOR"

// beDescendant waits for the end of an ancestor, and says so.
func beDescendant(name string) {
	a, err := FindAncestor(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("found")
	fmt.Println("ended:", a.AwaitEnd())
}

// The end of an ancestor is noticed by its name, also where a parent lies between, and whatever becomes of the parent.
func TestAncestor(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	named := t.TempDir() + "/ancestor (of) all" // the kernel keeps 15 bytes
	if err := os.Symlink(shell, named); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(named, "-c", `env "$0"; :`, self)
	cmd.Env = append(os.Environ(), envAncestor+"=ancestor (of)")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	if said.Scan(); said.Text() != "found" {
		t.Fatalf("it says %q", said.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if said.Scan(); said.Text() != "ended: <nil>" {
		t.Errorf("it says %q", said.Text())
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // it was killed
	if a, err := FindAncestor("no such name"); err == nil {
		t.Errorf("found %v", a)
	}
}

// An ancestor that nobody waits for any more is left alone.
func TestAncestorClose(t *testing.T) {
	parent, err := readStat(os.Getppid(), 0)
	if err != nil {
		t.Skip(err)
	}
	a, err := FindAncestor(parent.name)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- a.AwaitEnd() }()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("this test's parent has ended")
	}
}
