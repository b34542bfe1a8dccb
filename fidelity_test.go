package weft_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFidelity: in docs/FIDELITY.md every test and every file that is named exists. A row either names where its
// mechanism runs and a test, or says that it is not carried out, and why; none is left open.
func TestFidelity(t *testing.T) {
	text, err := os.ReadFile("docs/FIDELITY.md")
	if err != nil {
		t.Fatal(err)
	}
	papers := regexp.MustCompile(`(?m)^## \[\w+\]`).FindAllString(string(text), -1)
	if len(papers) != 5 {
		t.Errorf("the page has sections for %v, not for five papers", papers)
	}
	for _, wrong := range wrongRows(string(text)) {
		t.Error(wrong)
	}
	bad := "| 1 | a | real | | `fm/fm_test.go:TestNone` |\n| 1 | b | missing | | |\n| 1 | c | not carried out | | |\n" +
		"| 1 | d | real | | |\n| 1 | e | real | `fm/none.go` | `fm/fm_test.go:TestPieces` |\n"
	if found := wrongRows(bad); len(found) != 5 {
		t.Errorf("of five wrong rows these are found: %q", found)
	}
}

// wrongRows returns what is wrong with the rows of the tables of five columns.
func wrongRows(text string) (wrong []string) {
	places := []string{"real", "simulator", "model"}
	name := regexp.MustCompile("`([\\w./]+/[\\w./]+|\\w+_test\\.go)(?::(Test\\w+))?`")
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || cells[0] == " § " || strings.HasPrefix(cells[0], "---") {
			continue
		}
		where := strings.TrimSpace(cells[2])
		why := strings.TrimSpace(cells[3])
		unknown := func(place string) bool { return !slices.Contains(places, place) }
		switch {
		case where == "not carried out":
			if why == "" {
				wrong = append(wrong, "there is no reason: "+line)
			}
		case slices.ContainsFunc(strings.Split(where, ", "), unknown):
			wrong = append(wrong, "it runs neither in "+strings.Join(places, ", ")+": "+line)
		case !strings.Contains(cells[4], ":Test"):
			wrong = append(wrong, "no test shows it: "+line)
		}
		for _, found := range name.FindAllStringSubmatch(line, -1) {
			source, err := os.ReadFile(found[1])
			if info, statErr := os.Stat(found[1]); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil || found[2] != "" && !strings.Contains(string(source), "func "+found[2]+"(t *testing.T)") {
				wrong = append(wrong, found[0]+" is not there: "+line)
			}
		}
	}
	return wrong
}
