package weft_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pathsAllowed lists the files of the product that make, replace or remove what has a path, and why that does no harm
// in a directory to which strangers can write.
var pathsAllowed = map[string]string{
	"internal/sys/fresh.go":                "a new file or none, no link is followed: TestCreateFresh",
	"internal/amt/tracer.go":               "removes names, and follows none: TestTraceFollowsNothing",
	"internal/agent/agent.go":              "a new directory with a name that nobody can guess",
	"internal/agent/file.go":               "a new file in that directory",
	"internal/launch/program.go":           "a new directory with a name that nobody can guess",
	"internal/process/guard.go":            "removes these directories",
	"internal/counters/directory/place.go": "looks at what it has opened: TestOwnerIsDemanded, TestNothingIsFollowed",
	"internal/counters/directory/file.go":  "by a descriptor of place.go: TestNothingIsFollowed",
	"internal/counters/directory/read.go":  "reads by a descriptor of place.go: TestStrangers",
	"stream/listen.go":                     "removes the socket that it made: TestCloseSparesSuccessor; abstract names",
	"stream/listenfile.go":                 "removes sockets without listeners: TestListenSparesFiles, TestLockOfAnother",
	"internal/transport/shm/shm.go":        "a socket with an abstract name, which has no path",
	"internal/control/listen.go":           "a socket with an abstract name, which has no path",
	"fabric/leftover_linux.go":             "removes names of dead processes, follows none: TestLeftovers",
	"mpi/file.go":                          "the program's own files: it gives names and flags, as to os.OpenFile",
}

// changesPaths lists the functions of a package that change what has a path.
var changesPaths = map[string][]string{
	"os": {
		"Chmod", "Chown", "Create", "CreateTemp", "Lchown", "Link", "Mkdir", "MkdirAll", "MkdirTemp", "OpenFile", "Remove",
		"RemoveAll", "Rename", "Symlink", "Truncate", "WriteFile", "CopyFS",
	},
	"net":     {"ListenUnix", "ListenUnixgram", "ListenPacket"},
	"unix":    systemCalls,
	"syscall": systemCalls,
}

var systemCalls = []string{
	"Creat", "Link", "Mkdir", "Mkdirat", "Mknod", "Rename", "Renameat", "Rmdir", "Symlink", "Unlink", "Unlinkat",
}

// changesByMethod lists what changes paths by an os.Root, or opens one. Lists have a Remove, too, which is left out: to
// remove something by a Root it must have been opened.
var changesByMethod = []string{
	"Chmod", "Chown", "Lchown", "Link", "Mkdir", "MkdirAll", "OpenFile", "OpenRoot", "RemoveAll", "Rename", "Symlink",
	"WriteFile",
}

// changesPath reports whether a call may make or remove something that has a path: a function or a method does, and so
// does a listener at a Unix socket.
func changesPath(call *ast.CallExpr) (name string, yes bool) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	if pkg, ok := f.X.(*ast.Ident); ok && slices.Contains(changesPaths[pkg.Name], f.Sel.Name) {
		return pkg.Name + "." + f.Sel.Name, true
	}
	unix := func(e ast.Expr) bool {
		text, ok := e.(*ast.BasicLit)
		return ok && text.Value == `"unix"`
	}
	if f.Sel.Name == "Listen" && slices.ContainsFunc(call.Args, unix) {
		return "Listen", true
	}
	return f.Sel.Name, slices.Contains(changesByMethod, f.Sel.Name)
}

// TestPolicyPaths: whatever makes or removes a path in the product is one of a few places that have been looked at. The
// tests that are named there exist.
func TestPolicyPaths(t *testing.T) {
	unused := maps.Clone(pathsAllowed)
	goFiles(t, func(name string, text []byte) {
		top, _, _ := strings.Cut(name, "/")
		if ofTests("/"+name) || slices.Contains([]string{"lab", "examples", "contrib"}, top) {
			return
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if what, yes := changesPath(call); yes {
				delete(unused, name)
				if pathsAllowed[name] == "" {
					t.Errorf("%v: %s: may a stranger have put something there? Use sys.CreateFresh, or say here why not",
						fset.Position(call.Pos()), what)
				}
			}
			return true
		})
	})
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		t.Errorf("%s is allowed to change paths, and does not", name)
	}
	for name, why := range pathsAllowed {
		for _, test := range regexp.MustCompile(`\bTest\w+`).FindAllString(why, -1) {
			tests, _ := filepath.Glob(filepath.Join(filepath.Dir(name), "*_test.go"))
			there := func(file string) bool {
				text, _ := os.ReadFile(file)
				return strings.Contains(string(text), "\nfunc "+test+"(")
			}
			if !slices.ContainsFunc(tests, there) {
				t.Errorf("%s: there is no %s", name, test)
			}
		}
	}
}
