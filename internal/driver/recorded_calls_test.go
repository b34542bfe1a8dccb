package driver

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoInputBypassesTheRecorder: what changes the engine goes through record.Engine's methods. What is promoted from
// engine.Engine, and the layers below it, are only looked at.
func TestNoInputBypassesTheRecorder(t *testing.T) {
	bypass := regexp.MustCompile(`eng\.(Engine\.\w+|Resize|Want|Down|Returned|Leave|Retry|Pause|Room|Freeze|Detach)\(` +
		`|eng\.(Msg|Coord)\.Open\(|eng\.(Msg|RMA|Coord)\.(Drain|Start|Cancel|Put|Expose\w*|Withdraw|Knock)\(`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if bypass.MatchString(line) {
				t.Errorf("%s:%d: a recording misses this: %s", name, i+1, strings.TrimSpace(line))
			}
		}
	}
}
