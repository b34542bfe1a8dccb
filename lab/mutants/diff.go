package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// changed returns the lines of a package's files that have changed since a revision. The files of packages within it
// are not among them.
func (s *session) changed(pkg string) (lines map[string]map[int]bool, err error) {
	cmd := exec.Command("git", "diff", "--no-color", "--unified=0", "--merge-base", s.since, "--", ":(glob)"+pkg+"/*.go")
	cmd.Dir = s.root
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("what has changed since %s? %w", s.since, err)
	}
	return parseDiff(string(text)), nil
}

// parseDiff returns the lines that a diff without context adds to each file.
func parseDiff(text string) map[string]map[int]bool {
	lines := map[string]map[int]bool{}
	file := ""
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
			file = strings.TrimSpace(name)
			lines[file] = map[int]bool{}
		}
		if !strings.HasPrefix(line, "@@ ") {
			continue
		}
		_, added, _ := strings.Cut(line, " +")
		added, _, _ = strings.Cut(added, " ")
		from := 0
		n := 1
		if _, err := fmt.Sscanf(added, "%d,%d", &from, &n); err != nil {
			n = 1
		}
		for i := range n {
			lines[file][from+i] = true
		}
	}
	return lines
}
