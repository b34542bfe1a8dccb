package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A batch is the mutants of a package that are tried, embedded in its test programs.
type batch struct {
	*session
	pkg  string
	some []mutant // in the order of the source; numbers begin at 1

	programs []program // the tests of the package itself come first
}

// A program has the tests of a package, and all mutants.
type program struct {
	tests, tags, file string
	all               []test // the cheapest first
}

// A test is one function of a program.
type test struct {
	name    string
	cost    time.Duration // of the processor, without a mutant
	reaches map[int]bool  // the mutants whose functions it calls
}

// build compiles the test programs, without mutants that do not compile.
func (b *batch) build() error {
	wanted := []program{{tests: "./" + b.pkg}}
	if b.pkg == "internal/driver" && !b.near {
		wanted = append(wanted, program{tests: "./" + b.pkg, tags: "mutants"}) // with all interleavings
	}
	if !b.near {
		for _, tests := range testedBy[b.pkg] {
			wanted = append(wanted, program{tests: tests})
		}
	}
	for i := 0; i < len(wanted); {
		overlay, begins, first, err := b.overlay()
		if err != nil {
			return err
		}
		p := wanted[i]
		p.file = filepath.Join(b.dir, strconv.Itoa(i)+".test")
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-e", "-tags", p.tags, "-overlay", overlay,
			"-o", p.file, p.tests)
		cmd.Dir = b.root
		said, err := cmd.CombinedOutput()
		if err == nil {
			b.programs = append(b.programs, p)
			i++
			continue
		}
		bad := broken(string(said), begins, first)
		if len(bad) == 0 {
			return fmt.Errorf("the tests of %s do not compile: %w\n%s", p.tests, err, said)
		}
		var left []mutant
		for k, m := range b.some {
			if !bad[k+1] {
				left = append(left, m)
			}
		}
		b.some = left
	}
	return nil
}

// overlay writes the files in which mutants are embedded, and the overlay that puts them in place, together with the
// tests that need hosts. For broken it returns where copies begin, and the first number in each file.
func (b *batch) overlay() (file string, begins map[string][]int, first map[string]int, err error) {
	replace := map[string]string{}
	begins = map[string][]int{}
	first = map[string]int{}
	put := func(name, text string) error {
		from := filepath.Join(b.dir, path.Base(name))
		replace[filepath.Join(b.root, name)] = from
		return os.WriteFile(from, []byte(text), 0o666)
	}
	for i := 0; i < len(b.some); {
		name := b.some[i].file
		n := i
		for n < len(b.some) && b.some[n].file == name {
			n++
		}
		text, lines, err := embed(b.root, name, b.some[i:n], i+1)
		if err != nil {
			return "", nil, nil, err
		}
		begins[path.Base(name)] = lines
		first[path.Base(name)] = i + 1
		if err := put(name, text); err != nil {
			return "", nil, nil, err
		}
		i = n
	}
	list := exec.Command("go", "list", "-f", "{{.Name}}", "./"+b.pkg)
	list.Dir = b.root
	name, err := list.Output()
	if err != nil {
		return "", nil, nil, err
	}
	err = put(path.Join(b.pkg, "the_mutant.go"), fmt.Sprintf(choice, strings.TrimSpace(string(name)), len(b.some)+1))
	if err != nil {
		return "", nil, nil, err
	}
	guests, err := filepath.Glob(filepath.Join(b.root, "lab/inside/testdata", b.pkg, "*_test.go"))
	if err != nil {
		return "", nil, nil, err
	}
	for _, guest := range guests {
		replace[filepath.Join(b.root, b.pkg, filepath.Base(guest))] = guest
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, nil, err
	}
	file = filepath.Join(b.dir, "overlay.json")
	return file, begins, first, os.WriteFile(file, text, 0o666)
}

// unchanged runs each test without a mutant, and notes which mutants it reaches. A test that fails does not count.
func (b *batch) unchanged() error {
	for i := range b.programs {
		p := &b.programs[i]
		list, err := exec.Command(p.file, "-test.list", ".").Output()
		if err != nil {
			return err
		}
		for name := range strings.FieldsSeq(string(list)) {
			if strings.HasPrefix(name, "Benchmark") {
				continue
			}
			file := filepath.Join(b.dir, "reached")
			t := test{name: name, cost: time.Hour, reaches: map[int]bool{}}
			_, cost, err := b.run(p, &t, reachedBy+"="+file)
			if err != nil { // what it does to note that may be too much for it
				_, cost, err = b.run(p, &t, "")
			}
			if err != nil {
				fmt.Fprintf(b.out, "FAILS %s without a mutant: %v\n", name, err)
				continue
			}
			t.cost = cost
			text, _ := os.ReadFile(file)
			_ = os.Remove(file)
			for number := range strings.FieldsSeq(string(text)) {
				n, _ := strconv.Atoi(number)
				t.reaches[n] = true
			}
			p.all = append(p.all, t)
		}
		slices.SortFunc(p.all, func(a, b test) int { return cmp.Compare(a.cost, b.cost) })
	}
	return nil
}

// try runs the tests that reach a mutant, until one fails.
func (b *batch) try(i int) {
	m := &b.some[i]
	b.tried++
	reached := 0
	for k := range b.programs {
		p := &b.programs[k]
		for j := range p.all {
			t := &p.all[j]
			if !t.reaches[i+1] {
				continue
			}
			reached++
			_, _, err := b.run(p, t, fmt.Sprint(variable, "=", i+1))
			if err == nil {
				continue
			}
			b.found++
			if errors.Is(err, errHung) {
				fmt.Fprintf(b.out, "HUNG  %s:%d %s: %s\n", m.file, m.line, m.what, t.name)
			}
			return
		}
	}
	fmt.Fprintf(b.out, "LIVED %s:%d %s: %d tests\n", m.file, m.line, m.what, reached)
}

var errHung = errors.New("it does not end")

// run runs a test with a setting of the environment. It is stopped when it has cost twice what it costs without a
// mutant, or wants no processor for a while: on a busy machine time tells less.
func (b *batch) run(p *program, t *test, setting string) (said string, cost time.Duration, err error) {
	const idle = 20 // s
	cmd := exec.Command(p.file, "-test.run", "^"+t.name+"$", "-test.timeout", "0")
	cmd.Dir = filepath.Join(b.root, p.tests)
	cmd.Env = append(os.Environ(), setting)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var text bytes.Buffer
	cmd.Stdout = &text
	cmd.Stderr = &text
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	idles := 0 // seconds for which no thread has wanted a processor
	for {
		select {
		case err := <-ended:
			return text.String(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
		case <-time.After(time.Second):
		}
		cost, runs := look(cmd.Process.Pid)
		if idles++; runs {
			idles = 0
		}
		if cost > 2*t.cost+2*time.Second || idles > idle {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended
			return text.String(), cost, errHung
		}
	}
}

// look returns the processor time that a group of processes has taken, and whether one of its threads wants more.
func look(group int) (cost time.Duration, runs bool) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range all {
		f := stat(name)
		if len(f) < 15 || f[2] != strconv.Itoa(group) {
			continue
		}
		for _, ticks := range f[11:15] { // of its own, and of children that have ended
			n, _ := strconv.Atoi(ticks)
			cost += time.Duration(n) * (time.Second / 100)
		}
		threads, _ := filepath.Glob(filepath.Join(filepath.Dir(name), "task", "*", "stat"))
		for _, thread := range threads {
			f := stat(thread)
			runs = runs || len(f) > 0 && f[0] != "S"
		}
	}
	return cost, runs
}

// stat returns the fields of a process or thread behind its name.
func stat(name string) []string {
	text, _ := os.ReadFile(name)
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}
