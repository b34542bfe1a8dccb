package weft_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// pathsAllowed lists the files of the product that make, replace or remove what has a path, and why that does no harm
// in a directory to which strangers can write.
var pathsAllowed = map[string]string{
	"internal/sys/fresh.go":                "a new file or none, no link is followed: TestCreateFresh",
	"internal/amt/tracer.go":               "removes names, and follows none: the trace of a rank that there was before",
	"internal/agent/agent.go":              "a new directory with a name that nobody can guess",
	"internal/agent/file.go":               "a new file in that directory",
	"internal/launch/program.go":           "a new directory with a name that nobody can guess",
	"internal/process/guard.go":            "removes these directories",
	"internal/counters/directory/place.go": "looks at what it has opened: TestOwnerIsDemanded, TestNothingIsFollowed",
	"stream/listen.go":                     "removes the socket that it has made: TestCloseSparesSuccessor",
	"stream/listenfile.go":                 "removes sockets without listeners: TestListenSparesFiles, TestLockOfAnother",
	"internal/transport/shm/shm.go":        "a socket with an abstract name, which has no path",
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

// TestPolicyPaths: whatever makes or removes a path in the product is one of a few places that have been looked at.
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
			f, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := f.X.(*ast.Ident)
			if !ok || !slices.Contains(changesPaths[pkg.Name], f.Sel.Name) {
				return true
			}
			delete(unused, name)
			if pathsAllowed[name] == "" {
				t.Errorf("%v: %s.%s: may a stranger have put something there? Use sys.CreateFresh, or say here why not",
					fset.Position(f.Pos()), pkg.Name, f.Sel.Name)
			}
			return true
		})
	})
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		t.Errorf("%s is allowed to change paths, and does not", name)
	}
}
