package services

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// The marks in a page between which write puts its table.
const (
	figuresBegin = "<!-- services: begin -->\n"
	figuresEnd   = "<!-- services: end -->"
)

// figuresHead is the head of the table.
const figuresHead = "| request | connections | over a stream, µs | over a Unix socket, µs | ratio | ratio of the 99th percentiles |\n" +
	"|---|---|---|---|---|---|\n"

// figures puts results into the rows of a page's table: the median of each kind of request over streams and over a Unix
// socket. A row that was not measured stays. The results need both systems.
func figures(rows []string, results []Result) ([]string, error) {
	measured := 0
	for _, stream := range results {
		for _, unix := range results {
			same := stream.Protocol == unix.Protocol && stream.Connections == unix.Connections
			if !same || stream.System != "weft" || unix.System != "unix" || unix.P50 <= 0 || unix.P99 <= 0 {
				continue
			}
			p, err := find(stream.Protocol)
			if err != nil {
				return nil, err
			}
			rows = replace(rows, fmt.Sprintf("| %s | ", p.What), fmt.Sprintf("%d | ", stream.Connections),
				fmt.Sprintf("%.1f | %.1f | %.2f | %.2f |", stream.P50, unix.P50, stream.P50/unix.P50, stream.P99/unix.P99))
			measured++
		}
	}
	if measured == 0 {
		return nil, fmt.Errorf("perf services: -write needs the systems unix and weft")
	}
	return rows, nil
}

// replace puts a row in the place of the one of the same request and number of connections, or behind the last one of
// that request.
func replace(rows []string, request, connections, rest string) []string {
	at := len(rows)
	for i, row := range rows {
		if strings.HasPrefix(row, request+connections) {
			rows[i] = request + connections + rest
			return rows
		}
		if strings.HasPrefix(row, request) {
			at = i + 1
		}
	}
	return slices.Insert(rows, at, request+connections+rest)
}

// write puts results into the table of a page.
func write(page string, results []Result) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(text), figuresBegin)
	table, after, ended := strings.Cut(rest, figuresEnd)
	if !begun || !ended {
		return fmt.Errorf("perf services: %s has no lines %q and %q", page, strings.TrimSpace(figuresBegin), figuresEnd)
	}
	rows := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if rows, err = figures(rows[min(2, len(rows)):], results); err != nil {
		return err
	}
	table = figuresHead + strings.Join(rows, "\n") + "\n"
	return os.WriteFile(page, []byte(before+figuresBegin+table+figuresEnd+after), 0o644)
}
