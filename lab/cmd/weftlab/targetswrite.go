package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"weft/internal/launch"
	"weft/lab/perf"
)

// writeTargets puts a table of the outcomes between the two markers of docs/PERFORMANCE.md that belong to them: those
// of one host, or those between hosts.
func writeTargets(outcomes []perf.Outcome, rounds int) error {
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("targets: -write needs a clone of the repository: %w", err)
	}
	commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return err
	}
	hosts, err := launch.LabHosts()
	if err != nil {
		return err
	}
	marker := "targets"
	where := "On one host, over shared memory where nothing else is said"
	if len(hosts) > 0 {
		marker = "targets between hosts"
		where = fmt.Sprintf("Between the %d hosts of a laboratory", len(hosts))
	}
	file := filepath.Join(string(bytes.TrimSpace(root)), "docs", "PERFORMANCE.md")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	table := fmt.Sprintf("%s: %s, %s, %d rounds.\n\n%s", where, time.Now().Format(time.DateOnly),
		bytes.TrimSpace(commit), rounds, targetRows(outcomes))
	text, err = between(text, "<!-- "+marker+": begin -->\n", "<!-- "+marker+": end -->", table)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, text, 0o666)
}

// between replaces what stands between two markers.
func between(text []byte, begin, end, with string) ([]byte, error) {
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return nil, fmt.Errorf("there is no %q with %q behind it", strings.TrimSpace(begin), end)
	}
	return []byte(before + begin + with + end + after), nil
}

// targetBound returns the limit as it is written in the table.
func targetBound(o *perf.Outcome) string {
	return strings.NewReplacer("<=", "≤", ">=", "≥", " x", " ×", "us", "µs").Replace(o.Bound())
}

// targetRows returns the table as Markdown.
func targetRows(outcomes []perf.Outcome) string {
	var out strings.Builder
	out.WriteString("| path | target | weft | against | ratio | limit | reached |\n|---|---|---|---|---|---|---|\n")
	for _, o := range outcomes {
		ratio := "–"
		if o.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", o.Ratio)
		}
		reached := "**no**"
		if o.Reached {
			reached = "yes"
		}
		figures := strings.NewReplacer(" us", " µs").Replace
		fmt.Fprintf(&out, "| %s | `%s` | %s | %s | %s | %s | %s |\n", o.What, o.Target, figures(targetFigure(&o.Results[0])),
			figures(cmp.Or(targetPeers(o.Results[1:]), "–")), ratio, targetBound(&o), reached)
	}
	return out.String()
}
