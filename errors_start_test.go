package weft

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every setting of a cluster that Simulate does not understand is reported by an OptionError, and
// a line of a file of links by a FileError in it.
func TestSimulateOptionErrors(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links")
	if err := os.WriteFile(links, []byte("switch s 4\nhost h s:9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cluster       Cluster
		option, value string
	}{
		{Cluster{Ranks: 2, Link: "fast"}, "Cluster.Link", "fast"},
		{Cluster{Ranks: 2, Loss: 1.5}, "Cluster.Loss", "1.5"},
		{Cluster{Ranks: 2, Topology: "star"}, "Cluster.Topology", "star"},
		{Cluster{Ranks: 5, Topology: "torus:2x2"}, "Cluster.Topology", "torus:2x2"},
		{Cluster{Ranks: 2, Topology: "switch-tree:x"}, "Cluster.Topology", "switch-tree:x"},
		{Cluster{Ranks: 2, Topology: "file:nowhere"}, "Cluster.Topology", "file:nowhere"},
		{Cluster{Ranks: 2, Topology: "file:" + links}, "Cluster.Topology", "file:" + links},
	} {
		_, err := Simulate(t.Context(), c.cluster, func(context.Context, *Proc) error { return nil })
		var option *OptionError
		if !errors.As(err, &option) || !errors.Is(err, ErrOption) {
			t.Errorf("%s %q: %T: %v", c.option, c.value, err, err)
			continue
		}
		if option.Option != c.option || option.Value != c.value || (option.Takes == "") == (option.Err == nil) {
			t.Errorf("%s %q: %+v", c.option, c.value, option)
		}
		if !strings.HasPrefix(err.Error(), "weft: "+c.option) || strings.Count(err.Error(), "weft: ") != 1 {
			t.Errorf("%s %q: %v", c.option, c.value, err)
		}
		var line *FileError
		inFile := c.value == "file:"+links
		if errors.As(err, &line) != inFile || inFile && (line.File != links || line.Line != 2) {
			t.Errorf("%s %q: %v in %v", c.option, c.value, line, err)
		}
		if c.value == "file:nowhere" && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a file that does not exist: %v", err)
		}
	}
}
