package sys

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const envIdentity = "WEFT_TEST_IDENTITY"

// TestMain is also a process that says where it is, and one that waits for an ancestor.
func TestMain(m *testing.M) {
	if name := os.Getenv(envAncestor); name != "" {
		beDescendant(name)
		os.Exit(0)
	}
	if os.Getenv(envIdentity) != "" {
		_ = json.NewEncoder(os.Stdout).Encode(Identify()) // the test misses it
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Processes of this host are together, unless namespaces part them.
func TestIdentity(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	here := Identify()
	if here.Machine == "" || here.Container == "" || here.Space == "" {
		t.Fatalf("%+v", here)
	}
	for _, k := range []struct {
		flags            string // of unshare
		container, space bool   // it is the same
	}{
		{"", true, true},
		{"--uts --mount", true, true}, // whatever the host is called
		{"--net", true, false},
		{"--user", true, false},
		{"--cgroup", false, true},
		{"--pid --fork", false, false},
	} {
		words := append(strings.Fields("unshare "+k.flags), self)
		if k.flags == "" {
			words = words[1:]
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Env = append(os.Environ(), envIdentity+"=1")
		out, err := cmd.Output()
		if err != nil && k.flags != "" {
			t.Logf("unshare %s: %v: not tested here", k.flags, err)
			continue
		}
		var there Identity
		if err := json.Unmarshal(out, &there); err != nil {
			t.Fatalf("%s: %q: %v", k.flags, out, err)
		}
		sameContainer := there.Container == here.Container
		sameSpace := there.Space == here.Space
		if there.Machine != here.Machine || sameContainer != k.container || sameSpace != k.space {
			t.Errorf("unshare %s: %+v; here %+v", k.flags, there, here)
		}
	}
}
