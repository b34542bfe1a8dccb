// Package page serves the page of a running job of the launcher. Package launch does not import it: a program that
// starts a job without a page links no web server.
package page

import (
	"fmt"
	"io"

	"weft/internal/launch"
	"weft/internal/web"
)

// A page is that of one job.
type page struct {
	job     *launch.Running
	answers answers // of the job's ranks
}

// At returns what serves the page of a job at an address, for Job.Page. Where the page is goes to a writer.
func At(address string, to io.Writer) func(*launch.Running) (io.Closer, error) {
	return func(job *launch.Running) (io.Closer, error) {
		p := &page{job: job}
		server, err := web.Listen(address, p.state)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(to, "weft run: %s\n", server.URL())
		return server, nil
	}
}
