package inside

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"weft/lab/netlab/netlabtest"
)

// The products' root, seen from this directory.
const root = "../.."

// A guest is a package of the product with the tests that are put into it.
type guest struct {
	pkg   string // its directory in the product, such as internal/transport/udp
	tests []string
}

var function = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

// overlay returns the guests of testdata, and the file that puts all of them into their packages.
func overlay(t *testing.T) (guests []*guest, file string) {
	t.Helper()
	replace := map[string]string{}
	byDir := map[string]*guest{}
	err := filepath.WalkDir("testdata", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		inside, err := filepath.Rel("testdata", name)
		if err != nil {
			return err
		}
		from, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		to, err := filepath.Abs(filepath.Join(root, inside))
		if err != nil {
			return err
		}
		replace[to] = from
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		dir := filepath.Dir(inside)
		if byDir[dir] == nil {
			byDir[dir] = &guest{pkg: dir}
			guests = append(guests, byDir[dir])
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			if m[1] != "TestMain" {
				byDir[dir].tests = append(byDir[dir].tests, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return guests, file
}

// TestInside runs the tests of testdata inside their packages, by one go command. No two of these packages have a test
// of the same name.
func TestInside(t *testing.T) {
	netlabtest.Need(t)
	guests, file := overlay(t)
	var tests []string
	args := []string{"test", "-count=1", "-vet=off", "-timeout=20m", "-v", "-p=2", "-overlay", file}
	for _, g := range guests {
		tests = append(tests, g.tests...)
	}
	args = append(args, "-run", "^("+strings.Join(tests, "|")+")$")
	for _, g := range guests {
		args = append(args, "./"+g.pkg)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // some tests need static programs
	text, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "ok") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
