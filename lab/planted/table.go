package main

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed bugs/*.txt
var tables embed.FS

// A bug is one entry of a table.
type bug struct {
	name    string
	foundIn []string // the packages whose tests find it
	changes []change
}

// A change is a piece of a file, and what becomes of it.
type change struct {
	bug   string // whose it is
	file  string
	lines []string // each begins with ' ' (it stays), '-' (it goes) or '+' (it comes)
}

// bugs returns the entries of all tables.
func bugs() ([]bug, error) {
	names, err := fs.Glob(tables, "bugs/*.txt")
	if err != nil {
		return nil, err
	}
	var all []bug
	for _, name := range names {
		text, err := tables.ReadFile(name)
		if err != nil {
			return nil, err
		}
		some, err := parse(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, check(all)
}

// check reports what no entry may be.
func check(all []bug) error {
	names := map[string]bool{}
	for _, b := range all {
		question := fmt.Sprintf("planted.On(%q)", b.name)
		asks := false
		for _, c := range b.changes {
			asks = asks || strings.Contains(strings.Join(c.lines, "\n"), question)
		}
		switch {
		case names[b.name]:
			return fmt.Errorf("there are two planted bugs %s", b.name)
		case len(b.foundIn) == 0:
			return fmt.Errorf("planted bug %s names no package whose tests find it", b.name)
		case !asks:
			return fmt.Errorf("planted bug %s changes nothing where %s is asked", b.name, question)
		}
		names[b.name] = true
	}
	return nil
}

// parse reads a table.
func parse(name, text string) ([]bug, error) {
	var all []bug
	var now *bug       // the entry that is read
	var file string    // in which its changes are
	var where []string // the lines of its change
	end := func() {
		if len(where) > 0 {
			now.changes = append(now.changes, change{now.name, file, where})
			where = nil
		}
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		patch := line != "" && strings.Contains(" -+", line[:1])
		switch {
		case patch && file != "":
			where = append(where, line)
		case line == "" || line[0] == '#':
		case word == "bug":
			end()
			name, _, _ := strings.Cut(rest, ":")
			all = append(all, bug{name: name})
			now = &all[len(all)-1]
			file = ""
		case now != nil && strings.HasPrefix(line, "found in "):
			now.foundIn = strings.Fields(strings.TrimPrefix(line, "found in "))
		case now != nil && word == "file":
			end()
			file = rest
		case now != nil && line == "@@":
			end()
		default:
			return nil, fmt.Errorf("%s:%d: %q", name, number, line)
		}
	}
	if now != nil {
		end()
	}
	return all, nil
}
