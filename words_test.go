package weft_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forbidden are words that a reader of the repository cannot follow, and what to write instead
// (CONTRIBUTING.md).
var forbidden = []struct{ words, instead string }{
	{`(?i)\bpaper 00\d`, "the paper's key in docs/REFERENCES.md, such as [Hayakawa98]"},
	{`(?i)\bspec §`, "a section of docs/PROTOCOL.md, such as PROTOCOL §9.2, or a key in docs/REFERENCES.md"},
	{`(?i)\b(one|those|he) who\b`, aNoun},
	{`(?i)\bwhoever\b`, aNoun},
}

const aNoun = "a noun: the sender, the waiting goroutine, the rank that holds the lock"

// forbiddenInGo is forbidden in the comments of Go files, and in the strings of files that are not tests. Ranks,
// goroutines and processes are things, and a sentence names its subject.
var forbiddenInGo = []struct{ words, instead string }{
	{`(?i)\b(who|whom|he|him|himself)\b`, aNoun},
	{`(^|[.:;] )(One|Those) (that|which|whose)\b`, aNoun},
}

// people are phrases in which a person is meant, and which are therefore allowed.
var people = regexp.MustCompile(`(?i)\b(a |the )?(user|reader|person|people|engineer|programmer|author|attacker)s? (who|whom)\b`)

// texts calls f with every file of the repository that people write.
func texts(t *testing.T, f func(name, text string)) {
	t.Helper()
	written := regexp.MustCompile(`(^|/)(Makefile|Dockerfile|\.ci/[a-z]+)$|\.(go|md|lua|sh|ya?ml|json|html|css|js|txt|links)$|/testdata/`)
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		name = filepath.ToSlash(name)
		if d.IsDir() || !written.MatchString(name) {
			return nil
		}
		text, err := os.ReadFile(name)
		if err == nil {
			f(name, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Comments and documents use nouns for ranks and goroutines, and cite what a reader can find.
func TestWords(t *testing.T) {
	patterns := make([]*regexp.Regexp, len(forbidden))
	for i, f := range forbidden {
		patterns[i] = regexp.MustCompile(f.words)
	}
	texts(t, func(name, text string) {
		if name == "CONTRIBUTING.md" || name == "words_test.go" { // which show what is forbidden
			return
		}
		number := 0
		for line := range strings.Lines(text) {
			number++
			for i, pattern := range patterns {
				if found := pattern.FindString(line); found != "" {
					t.Errorf("%s:%d: %q: write %s", name, number, found, forbidden[i].instead)
				}
			}
		}
	})
}

// Comments and texts of Go files use nouns for ranks and goroutines, also where a line break is in a phrase.
func TestWordsOfGo(t *testing.T) {
	patterns := make([]*regexp.Regexp, len(forbiddenInGo))
	for i, f := range forbiddenInGo {
		patterns[i] = regexp.MustCompile(f.words)
	}
	goFiles(t, func(name string, text []byte) {
		if name == "words_test.go" { // which shows what is forbidden
			return
		}
		for place, said := range prose(t, name, text) {
			for i, pattern := range patterns {
				if !pattern.MatchString(said) {
					continue
				}
				if found := pattern.FindString(people.ReplaceAllString(said, "")); found != "" {
					t.Errorf("%s: %q: write %s", place, found, forbiddenInGo[i].instead)
				}
			}
		}
	})
}

// prose returns the comments of a Go file, and its strings unless it is a test, each on one line, by their places.
func prose(t *testing.T, name string, text []byte) map[string]string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, c := range file.Comments {
		said[fset.Position(c.Pos()).String()] = strings.Join(strings.Fields(c.Text()), " ")
	}
	if strings.HasSuffix(name, "_test.go") {
		return said
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			value, _ := strconv.Unquote(s.Value)
			said[fset.Position(s.Pos()).String()] = strings.Join(strings.Fields(value), " ")
		}
		return true
	})
	return said
}

// Every source that is cited by a key is in docs/REFERENCES.md.
func TestCitations(t *testing.T) {
	references, err := os.ReadFile("docs/REFERENCES.md")
	if err != nil {
		t.Fatal(err)
	}
	key := regexp.MustCompile(`\[[A-Z][A-Za-z]{2,}\d\d\]`)
	known := map[string]bool{}
	for line := range strings.Lines(string(references)) {
		if strings.HasPrefix(line, "| [") {
			known[key.FindString(line)] = true
		}
	}
	texts(t, func(name, text string) {
		for line := range strings.Lines(text) {
			if _, comment, ok := strings.Cut(line, "//"); ok && strings.HasSuffix(name, ".go") {
				line = comment
			} else if !strings.HasSuffix(name, ".md") {
				continue
			}
			for _, cited := range key.FindAllString(line, -1) {
				if !known[cited] {
					t.Errorf("%s cites %s, which docs/REFERENCES.md does not have", name, cited)
				}
			}
		}
	})
}

// Every link from a document to a file of the repository leads to one.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)
	texts(t, func(name, text string) {
		if !strings.HasSuffix(name, ".md") {
			return
		}
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(path.Join(path.Dir(name), found[1])); err != nil {
				t.Errorf("%s has a link to %s, which is not there", name, found[1])
			}
		}
	})
}

// Every section of docs/PROTOCOL.md that is cited is there.
func TestSections(t *testing.T) {
	protocol, err := os.ReadFile("docs/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`^#+ (\d+(?:\.\d+)?)\b`)
	item := regexp.MustCompile(`^(\d+)\. `)
	sections := map[string]bool{} // also 9.5.6: item 6 of section 9.5
	section := ""
	for line := range strings.Lines(string(protocol)) {
		if found := heading.FindStringSubmatch(line); found != nil {
			section = found[1]
			sections[section] = true
		} else if found := item.FindStringSubmatch(line); found != nil {
			sections[section+"."+found[1]] = true
		}
	}
	citation := regexp.MustCompile(`PROTOCOL(?:\.md)? §(\d+(?:\.\d+)*)`)
	texts(t, func(name, text string) {
		for _, found := range citation.FindAllStringSubmatch(text, -1) {
			if !sections[found[1]] {
				t.Errorf("%s cites PROTOCOL §%s, which is not there", name, found[1])
			}
		}
	})
}

// The pages of docs/decisions are numbered from 1 without a gap, and every decision that is cited has one.
func TestDecisions(t *testing.T) {
	pages, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^(\d{4})(-[a-z0-9]+)+\.md$`)
	for i, page := range pages { // Glob sorts them
		found := name.FindStringSubmatch(filepath.Base(page))
		if found == nil {
			t.Fatalf("%s: want four digits and words, with - between them", page)
		}
		if number, _ := strconv.Atoi(found[1]); number != i+1 {
			t.Fatalf("%s is page %d of docs/decisions: give it that number, and change its citations", page, i+1)
		}
	}
	citation := regexp.MustCompile(`(?i)\bdecisions?[ /](\d+)\b`)
	link := regexp.MustCompile(`(?i)\bdecision (\d+)\]\([^)]*?(\d{4})-`)
	texts(t, func(name, text string) {
		for _, found := range citation.FindAllStringSubmatch(text, -1) {
			if number, _ := strconv.Atoi(found[1]); number < 1 || number > len(pages) {
				t.Errorf("%s: %q: docs/decisions has %d pages", name, found[0], len(pages))
			}
		}
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			said, _ := strconv.Atoi(found[1])
			leads, _ := strconv.Atoi(found[2])
			if said != leads {
				t.Errorf("%s: %q leads to page %d", name, found[0], leads)
			}
		}
	})
}

// Every package that docs/ARCHITECTURE.md names is there.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, named := range regexp.MustCompile("`(internal/[\\w/.]+)`").FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(named[1]); err != nil {
			t.Errorf("docs/ARCHITECTURE.md names %s, which is not there", named[1])
		}
	}
}

// The README has no figure of its own: each time in it stands in docs/PERFORMANCE.md, which one command writes.
func TestFiguresAgree(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	performance, err := os.ReadFile("docs/PERFORMANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	figure := regexp.MustCompile(`[\d.]+ µs`)
	measured := figure.FindAllString(string(performance), -1)
	for _, said := range figure.FindAllString(string(readme), -1) {
		if !slices.Contains(measured, said) {
			t.Errorf("README.md says %s, which docs/PERFORMANCE.md does not", said)
		}
	}
}

// Every function that docs/MESSAGE.md names is in the file that it names.
func TestMessageFunctions(t *testing.T) {
	text, err := os.ReadFile("docs/MESSAGE.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([A-Z]?[a-z]+)\\.(\\w+)`(?: \\| | \\()`([\\w/]+\\.go)`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 20 {
		t.Fatalf("docs/MESSAGE.md names %d functions with their files; this test no longer finds them", len(named))
	}
	for _, m := range named {
		source, err := os.ReadFile(m[3])
		if err != nil {
			t.Errorf("docs/MESSAGE.md: %v", err)
			continue
		}
		if !regexp.MustCompile(`(?m)^func \(\w+ \*?` + m[1] + `\) ` + m[2] + `\(`).Match(source) {
			t.Errorf("docs/MESSAGE.md: %s has no method %s of %s", m[3], m[2], m[1])
		}
	}
}
