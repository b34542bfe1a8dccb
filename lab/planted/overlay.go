package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// always are the changes of every such build. By the first, package planted knows that the build has the bugs; by the
// others, package weak knows of stores that do not wait until they are visible.
var always = []change{
	{file: "internal/planted/planted.go", lines: []string{"-const overlaid = false", "+const overlaid = true"}},
	{file: "internal/mem/store_amd64.go", lines: []string{
		"-func storeRelease(p *uint64, v uint64) { *p = v }",
		"+func storeRelease(p *uint64, v uint64) { weak.Publish(p, v) }",
	}},
	{file: "internal/mem/store_other.go", lines: []string{
		"-func storeRelease(p *uint64, v uint64) { atomic.StoreUint64(p, v) }",
		"+func storeRelease(p *uint64, v uint64) { atomic.Publish(p, v) }",
	}},
}

// imported are packages that changes may use.
var imported = []string{"planted", "weak"}

// overlay writes the changed files of the product whose source is in root into dir, and returns the name of the file
// that says to `go test` which file each of them replaces.
func overlay(root, dir string, all []bug) (name string, err error) {
	changes := slices.Clone(always)
	for _, b := range all {
		changes = append(changes, b.changes...)
	}
	files, err := atomics(root)
	if err != nil {
		return "", err
	}
	for _, c := range changes {
		files[c.file] = append(files[c.file], c)
	}
	replace := map[string]string{}
	var failed []error
	for file, changes := range files {
		original := filepath.Join(root, filepath.FromSlash(file))
		text, err := os.ReadFile(original)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		changed, err := apply(string(text), changes)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		changed = atomicImport.ReplaceAllString(changed, `${1}atomic "weft/internal/weak"`)
		replace[original] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		failed = append(failed, os.WriteFile(replace[original], []byte(addImports(changed)), 0o666))
	}
	if err := errors.Join(failed...); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name = filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o666)
}

var (
	packageClause = regexp.MustCompile(`(?m)^package \w+$`)
	atomicImport  = regexp.MustCompile(`(?m)^(\t|import )"sync/atomic"$`)
)

// atomics returns the files of the product that use sync/atomic, in whose place they get package weak. No change of
// theirs is known so far.
func atomics(root string) (files map[string][]change, err error) {
	files = map[string][]change{}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") && name != root
			if file == "lab" || file == "internal/weak" || hidden {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if atomicImport.Match(text) {
			files[file] = nil
		}
		return err
	})
	return files, err
}

// addImports adds the packages that changes use, without a new line: errors and panics show the product's lines until
// the first change.
func addImports(text string) string {
	at := packageClause.FindStringIndex(text)
	clause := text[:at[1]]
	for _, name := range imported {
		path := "weft/internal/" + name
		used := regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(text)
		used = used && !strings.HasSuffix(clause, "package "+name)
		if used && !strings.Contains(text, "\t\""+path+"\"\n") {
			clause += fmt.Sprintf("; import %q", path)
		}
	}
	return clause + text[at[1]:]
}

// An edit replaces what lies from a place on in a text.
type edit struct {
	at, end int
	by      string
}

// apply returns a text with changes. All of them are found in the text as it was, so that the bugs of a file do not
// depend on each other.
func apply(text string, changes []change) (string, error) {
	var edits []edit
	var failed []error
	for _, c := range changes {
		some, err := c.edits(text)
		failed = append(failed, err)
		edits = append(edits, some...)
	}
	if err := errors.Join(failed...); err != nil {
		return "", err
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	var changed strings.Builder
	end := 0
	for _, e := range edits {
		if e.at < end {
			return "", fmt.Errorf("two planted bugs change the same line of %s:\n%s", changes[0].file, text[e.at:e.end])
		}
		changed.WriteString(text[end:e.at])
		changed.WriteString(e.by)
		end = e.end
	}
	changed.WriteString(text[end:])
	return changed.String(), nil
}

// edits returns what a change does to a text.
func (c change) edits(text string) ([]edit, error) {
	var old strings.Builder
	for _, line := range c.lines {
		if line[0] != '+' {
			old.WriteString(line[1:] + "\n")
		}
	}
	if n := strings.Count("\n"+text, "\n"+old.String()); n != 1 {
		return nil, fmt.Errorf("planted bug %s no longer applies to %s, which has this %d times:\n%s", c.bug, c.file, n,
			old.String())
	}
	at := strings.Index("\n"+text, "\n"+old.String())
	var edits []edit
	for _, line := range c.lines {
		switch after := at + len(line); line[0] { // the newline is as long as the sign
		case ' ':
			at = after
		case '-':
			edits = append(edits, edit{at, after, ""})
			at = after
		case '+':
			edits = append(edits, edit{at, at, line[1:] + "\n"})
		}
	}
	return edits, nil
}
