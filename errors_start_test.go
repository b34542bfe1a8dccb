package weft

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// Every setting of a cluster that Simulate does not understand is reported by an OptionError.
func TestSimulateOptionErrors(t *testing.T) {
	for _, c := range []struct {
		cluster       Cluster
		option, value string
	}{
		{Cluster{Ranks: 2, Link: "fast"}, "Cluster.Link", "fast"},
		{Cluster{Ranks: 2, Loss: 1.5}, "Cluster.Loss", "1.5"},
		{Cluster{Ranks: 2, Topology: "star"}, "Cluster.Topology", "star"},
		{Cluster{Ranks: 5, Topology: "torus:2x2"}, "Cluster.Topology", "torus:2x2"},
		{Cluster{Ranks: 2, Topology: "switch-tree:8"}, "Cluster.Topology", "switch-tree:8"}, // which is not linked here
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
	}
}
