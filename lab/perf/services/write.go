package services

import (
	"fmt"
	"os"
	"strings"
)

// The marks in a page between which write puts its table.
const (
	figuresBegin = "<!-- services: begin -->\n"
	figuresEnd   = "<!-- services: end -->"
)

// figures returns a table of a page: the median of each kind of request over streams and over a Unix socket. The
// results need both.
func figures(results []Result) (string, error) {
	var b strings.Builder
	b.WriteString("| request | connections | over a stream, µs | over a Unix socket, µs | ratio |\n")
	b.WriteString("|---|---|---|---|---|\n")
	rows := 0
	for _, stream := range results {
		for _, unix := range results {
			same := stream.Protocol == unix.Protocol && stream.Connections == unix.Connections
			if !same || stream.System != "weft" || unix.System != "unix" || unix.P50 <= 0 {
				continue
			}
			p, err := find(stream.Protocol)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "| %s | %d | %.1f | %.1f | %.2f |\n", p.What, stream.Connections, stream.P50, unix.P50,
				stream.P50/unix.P50)
			rows++
		}
	}
	if rows == 0 {
		return "", fmt.Errorf("perf services: -write needs the systems unix and weft")
	}
	return b.String(), nil
}

// write puts the table of results into a page, in the place of the one that it has.
func write(page string, results []Result) error {
	table, err := figures(results)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(text), figuresBegin)
	_, after, ended := strings.Cut(rest, figuresEnd)
	if !begun || !ended {
		return fmt.Errorf("perf services: %s has no lines %q and %q", page, strings.TrimSpace(figuresBegin), figuresEnd)
	}
	return os.WriteFile(page, []byte(before+figuresBegin+table+figuresEnd+after), 0o644)
}
