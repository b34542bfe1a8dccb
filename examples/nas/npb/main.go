package npb

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"weft"
)

// ErrWrong reports results that are not those that are known.
var ErrWrong = errors.New("the verification has failed")

// Main is the main function of a benchmark: it asks for the class, and runs the
// benchmark as a rank of a job. The report goes to w, from rank 0.
func Main(takes string, run func(ctx context.Context, p *weft.Proc, class string, w io.Writer) error) {
	class := flag.String("class", "S", "problem size: "+takes)
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error { return run(ctx, p, *class, os.Stdout) })
}

// Find returns the class of a name.
func Find[C any](classes map[string]C, name string) (c C, err error) {
	c, ok := classes[name]
	if ok {
		return c, nil
	}
	var names []string
	for _, n := range []string{"S", "W", "A", "B"} {
		if _, ok := classes[n]; ok {
			names = append(names, n)
		}
	}
	last := len(names) - 1
	return c, fmt.Errorf("-class %q: must be %s or %s", name, strings.Join(names[:last], ", "), names[last])
}
