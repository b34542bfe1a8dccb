package weft_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var requirement = regexp.MustCompile(`(?m)^(?:require )?\t?(\S+\.\S+/\S+) (v\S+)(?: // indirect)?$`)

// What the modules of this repository need has one version in all of them. With two, whatever imports it, package weft
// too, is compiled twice, and is tested with the one and used with the other.
func TestPolicyModulesAgree(t *testing.T) {
	type use struct{ version, file string }
	uses := map[string][]use{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != ".":
			return fs.SkipDir
		case d.Name() != "go.mod":
			return nil
		}
		text, err := os.ReadFile(name)
		for _, m := range requirement.FindAllStringSubmatch(string(text), -1) {
			uses[m[1]] = append(uses[m[1]], use{m[2], name})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(uses["golang.org/x/sys"]) < 3 {
		t.Errorf("x/sys is found in %v alone", uses["golang.org/x/sys"])
	}
	for module, all := range uses {
		for _, u := range all[1:] {
			if first := all[0]; u.version != first.version {
				t.Errorf("%s has %s in %s, and %s in %s", module, first.version, first.file, u.version, u.file)
			}
		}
	}
}
