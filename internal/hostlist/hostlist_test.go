package hostlist

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"a", "[{a 0}]"},
		{"a,b:4,c", "[{a 0} {b 4} {c 0}]"},
		{" a , b:2,", "[{a 0} {b 2}]"},
		{"node[01-03,20]:2,x", "[{node01 2} {node02 2} {node03 2} {node20 2} {x 0}]"},
		{"node[8-11]", "[{node8 0} {node9 0} {node10 0} {node11 0}]"},
		{"r[1-2]n[08-09]-ib", "[{r1n08-ib 0} {r1n09-ib 0} {r2n08-ib 0} {r2n09-ib 0}]"},
		{"10.0.0.[1-2]", "[{10.0.0.1 0} {10.0.0.2 0}]"},
		{"me@host.example.org:3", "[{me@host.example.org 3}]"},
		{"fe80::1%eth0", "[{fe80::1%eth0 0}]"},
		{"[fe80::1]:4,[::1]", "[{fe80::1 4} {::1 0}]"},
		{"a,a:2", "[{a 0} {a 2}]"},
	} {
		hosts, err := Parse(c.list)
		if got := fmt.Sprint(hosts); got != c.want || err != nil {
			t.Errorf("%s: %s, %v, not %s", c.list, got, err, c.want)
		}
	}
}

// What cannot be meant is refused, with the word that is wrong; also what ssh would take
// for an option, and what a few bytes would make endless.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"", "is empty"}, {",", "is empty"},
		{"a:0", "slots are a number"}, {"a:x", "slots are a number"}, {"a:70000", "slots are a number"},
		{"a:-1", "slots are a number"},
		{"-oProxyCommand=x", "no name of a host"}, {"me@-x", "no name of a host"}, {"a;b", "no name of a host"},
		{"a b", "no name of a host"},
		{"$(x)", "no name of a host"}, {strings.Repeat("x", 300), "no name of a host"}, {"me@", "no name of a host"},
		{"a[1-", "brackets"}, {"a]1[", "brackets"}, {"a[[1]]", "brackets"},
		{"a[3-1]", "no range"}, {"a[]", "no range"}, {"a[x]", "no range"}, {"a[1-2-3]", "no range"}, {"a[-1]", "no range"},
		{"a[0-99999999]", "no range"},
		{"a[00000000000000000000001-2]", "no range"},
		{"a[1-60000],b[1-60000]", "more than 65536"}, {"a[1-300]b[1-300]c[1-300]", "more than 65536"},
	} {
		if hosts, err := Parse(c.list); err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 250 {
			t.Errorf("%.80s: %d hosts, %v", c.list, len(hosts), err)
		}
	}
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"a,b,a", "[{a 2} {b 0}]"}, {"a:3,b,a,a:2", "[{a 6} {b 0}]"}, {"a,b:4", "[{a 0} {b 4}]"},
	} {
		hosts, err := Parse(c.list)
		if got := fmt.Sprint(Merge(hosts)); got != c.want || err != nil {
			t.Errorf("%s: %s, %v, not %s", c.list, got, err, c.want)
		}
	}
}

func TestSlurm(t *testing.T) {
	names, err := Expand("n[1-3,7],m2")
	if want := []string{"n1", "n2", "n3", "n7", "m2"}; !slices.Equal(names, want) || err != nil {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := Expand("a:4"); err == nil {
		t.Error("slots in a list of names")
	}
	for _, c := range []struct{ list, want string }{
		{"4", "[4]"}, {"4,1(x2)", "[4 1 1]"}, {"2(x3),0", "[2 2 2 0]"},
		{"", "[]"}, {"x", "[]"}, {"4(x2", "[]"}, {"4(2)", "[]"}, {"1(x99999999)", "[]"}, {"1(x60000),1(x60000)", "[]"},
		{"4(x)", "[]"},
	} {
		counts, err := Counts(c.list)
		if got := fmt.Sprint(counts); got != c.want || (err == nil) != (c.want != "[]") {
			t.Errorf("%q: %.80s, %v", c.list, got, err)
		}
	}
}

func TestParseFile(t *testing.T) {
	const text = `# the cluster
a
b slots=4 max_slots=8   # Open MPI's way
c:2                     # Hydra's
node[01-02] slots=3

a
`
	hosts, err := ParseFile("hosts", strings.NewReader(text))
	if got := fmt.Sprint(hosts); got != "[{a 0} {b 4} {c 2} {node01 3} {node02 3} {a 0}]" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	for _, c := range []struct{ text, want string }{
		{"# nothing\n", "hosts names no host"},
		{"a\nb slots=x\n", "hosts:2: \"slots=x\""},
		{"a b\n", "hosts:1: what is \"b\"?"},
		{"a\n\nb;c\n", "hosts:3: \"b;c\" is no name"},
		{"a\n" + strings.Repeat("x", 1<<17), "hosts:2: a line of more than"},
		{strings.Repeat("n[1-60000]\n", 2), "hosts:2: hosts"},
	} {
		if _, err := ParseFile("hosts", strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v", c.text, err)
		}
	}
}

// Whatever the list is, what comes out is bounded, names only hosts that a command may
// be given, and says the same when it is written as a list again.
func FuzzParse(f *testing.F) {
	for _, list := range []string{"a,b:4,c", "node[01-16,20]", "r[1-2]n[08-09]-ib", "[fe80::1]:4", "4,1(x2)", "me@x.y",
		"a[1-300]b[1-300]c[1-300]"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		_, _ = Counts(list)
		_, _ = ParseFile("fuzz", strings.NewReader(list))
		hosts, err := Parse(list)
		if err != nil {
			return
		}
		if len(hosts) == 0 || len(hosts) > MaxHosts {
			t.Fatalf("%q: %d hosts", list, len(hosts))
		}
		if len(hosts) > 100 {
			return
		}
		var words []string
		for _, h := range hosts {
			if strings.HasPrefix(h.Name, "-") || strings.ContainsAny(h.Name, " \t\n;'\"$&|<>`\\") || h.Slots < 0 ||
				h.Slots > MaxSlots {
				t.Fatalf("%q: %+v", list, h)
			}
			word := h.Name
			if strings.Contains(word, ":") {
				word = "[" + word + "]"
			}
			if h.Slots > 0 {
				word = fmt.Sprintf("%s:%d", word, h.Slots)
			}
			words = append(words, word)
		}
		if again, err := Parse(strings.Join(words, ",")); err != nil || !slices.Equal(hosts, again) {
			t.Fatalf("%q: %v, written again as %q: %v, %v", list, hosts, words, again, err)
		}
	})
}
