package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What only a file of one system declares is missing on another, and everything that is missing is named.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module m\n\ngo 1.26\n",
		"a.go":       "package m\n\nimport \"unsafe\"\n\nconst Size = unsafe.Sizeof(f())\n\nvar g = F()\n",
		"a_linux.go": "package m\n\nfunc f() int { return 0 }\n\nfunc F() int { return 1 }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	if err := check("linux/amd64", []string{"./..."}); err != nil {
		t.Error(err)
	}
	err := check("darwin/arm64", []string{"./..."})
	for _, name := range []string{"undefined: f", "undefined: F"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, not %s", err, name)
		}
	}
	if err := check("plan9", nil); err == nil {
		t.Error("half a system is taken")
	}
}
