package weft_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports is the architecture: what each package of this module imports of it.
// The table is exact, so that a line that is missing, or is not needed any
// more, fails the test. To add one is a decision: say why in the commit.
const imports = `
failure
internal/checksum
internal/monotime
internal/mem
internal/ring           internal/mem
internal/engine/wire
internal/engine/list
internal/explore
internal/waittest
internal/programtest
internal/mailbox        internal/mem
internal/counters       internal/mem
internal/counters/directory internal/counters internal/sys
internal/engine/link    internal/checksum internal/counters internal/engine/list internal/engine/wire internal/monotime
internal/engine/msg     failure internal/engine/link internal/engine/list internal/engine/wire internal/mem internal/monotime
internal/engine/rma     failure internal/engine/link internal/engine/list internal/engine/wire internal/mailbox internal/mem
internal/engine/coord   failure internal/engine/link internal/engine/list internal/engine/wire internal/monotime
internal/engine         failure internal/counters internal/engine/coord internal/engine/link internal/engine/msg internal/engine/rma internal/engine/wire internal/monotime

internal/transport      internal/counters
internal/sys
internal/control        internal/sys
internal/handshake               internal/sys
internal/interleave     internal/sys
internal/doorbell       internal/transport internal/sys
internal/transport/pipe          internal/transport internal/mem internal/sys
internal/transport/shm           internal/transport internal/doorbell internal/handshake internal/mem internal/ring internal/sys
internal/transport/tcp           internal/transport internal/doorbell internal/handshake internal/sys
internal/transport/udp           internal/transport internal/doorbell internal/sys internal/counters
internal/transport/eth           internal/transport internal/transport/udp internal/doorbell internal/sys internal/counters
internal/transport/faulty        internal/transport
internal/transport/transporttest internal/transport internal/doorbell internal/handshake internal/waittest

internal/timeline       internal/sys
internal/timeline/traceevent internal/timeline
internal/web            internal/counters internal/waitgraph
internal/web/webtest
internal/web/webtest/job .

internal/driver/duty    internal/monotime
internal/driver         failure internal/counters internal/driver/duty internal/engine internal/engine/coord internal/engine/link internal/engine/msg internal/engine/rma internal/interleave internal/mailbox internal/mem internal/monotime internal/sys internal/timeline internal/transport internal/waitgraph
internal/sharedmem      failure internal/driver internal/mem internal/sys internal/transport
internal/bootstrap      failure
internal/hostlist
internal/fault          failure
internal/bootstrap/pmi
internal/bootstrap/bootstraptest internal/bootstrap
internal/bootstrap/rendezvous failure internal/bootstrap internal/handshake internal/sys
internal/bootstrap/etcd failure
internal/bootstrap/environment failure internal/bootstrap internal/bootstrap/pmi internal/bootstrap/rendezvous internal/hostlist internal/sys
etcd                    internal/bootstrap/environment internal/bootstrap/etcd
internal/waitgraph      internal/counters
internal/hostbarrier    failure internal/counters internal/driver internal/engine/coord internal/mem internal/sys internal/waitgraph
internal/amt            internal/sys
internal/manifest
internal/manifest/manifesttest

internal/sim            failure internal/monotime
internal/sim/proc       internal/sim internal/sys internal/transport
internal/sim/job        failure internal/amt internal/bootstrap internal/driver internal/engine internal/engine/wire internal/fault internal/join internal/sim internal/sim/proc internal/sys internal/timeline internal/timeline/traceevent internal/transport/pipe

internal/join           failure internal/amt internal/bootstrap internal/bootstrap/environment internal/counters internal/counters/directory internal/doorbell internal/driver internal/engine internal/engine/link internal/handshake internal/launch internal/sharedmem internal/sys internal/timeline internal/transport internal/transport/eth internal/transport/faulty internal/transport/shm internal/transport/tcp internal/transport/udp internal/waitgraph
.                       failure internal/amt internal/bootstrap internal/bootstrap/environment internal/counters internal/doorbell internal/driver internal/engine internal/engine/coord internal/engine/msg internal/engine/rma internal/engine/wire internal/fault internal/hostbarrier internal/inbox internal/inside internal/join internal/mailbox internal/mem internal/sharedmem internal/sim/job internal/timeline internal/transport internal/transport/pipe internal/waitgraph

internal/agreement
job                     . internal/launch internal/waitgraph
mpi                     . extend failure internal/agreement internal/interleave internal/match internal/mem
internal/match
pm                      . extend failure

internal/endpoint       . extend
am                      . failure internal/endpoint
fm                      . internal/endpoint extend
vmmc                    . extend failure

stream                  . extend internal/control internal/handshake internal/mem internal/ring internal/sys

internal/process        internal/bootstrap internal/counters/directory internal/sys
internal/agent          internal/process internal/sys
internal/launch         failure internal/agent internal/bootstrap internal/control internal/counters internal/hostlist internal/process internal/sys internal/timeline internal/waitgraph internal/timeline/traceevent
internal/launch/page    internal/counters internal/counters/directory internal/launch internal/sys internal/waitgraph internal/web
internal/top            internal/control internal/counters internal/counters/directory internal/launch internal/sys internal/waitgraph stream
internal/doctor         . internal/agent internal/sys
cmd/weft                . etcd internal/agent internal/amt internal/bootstrap internal/bootstrap/environment internal/doctor internal/hostlist internal/join internal/launch internal/launch/page internal/manifest internal/process internal/sys internal/top internal/waitgraph internal/web stream internal/cli internal/timeline/traceevent internal/sim/job internal/fault

fabric/internal/ofi
fabric                  fabric/internal/ofi internal/doorbell internal/handshake internal/join internal/mem internal/sys internal/transport
fabric/provider
fabric/provider/internal/stack
fabric/provider/internal/endpoint internal/doorbell internal/engine internal/engine/link internal/engine/msg internal/match internal/mem internal/monotime internal/sys internal/transport internal/transport/eth internal/transport/udp
fabric/provider/core    fabric/provider/internal/endpoint fabric/provider/internal/stack
prometheus              internal/control internal/counters internal/counters/directory stream
prometheus/exporter     prometheus
contrib/grpc            stream
contrib/raft            stream
contrib/raft/perf       contrib/raft lab/perf/consensus stream
contrib/dragonboat      stream
contrib/dragonboat/perf contrib/dragonboat lab/perf/consensus stream
contrib/nats            stream


examples/hello          .
examples/tutorial/step1 .
examples/tutorial/step2 .
examples/tutorial/tally .
examples/tutorial/step3 . examples/tutorial/tally
examples/tutorial/step4 . examples/tutorial/tally
examples/tutorial/step5 . examples/tutorial/tally
examples/ping           .
examples/bulk           .
examples/counter        .
examples/halo           .
examples/barrier        .
examples/lock           .
examples/mailbox        .
examples/farm           .
examples/survive        . mpi
examples/mpi
examples/mpi/stencil    . mpi
examples/mpi/matrix     . mpi
examples/mpi/farm       . mpi
examples/mpi/integrate  . mpi
examples/mpi/samplesort . mpi
examples/mpi/bodies     . mpi
examples/mpi/gradient   . mpi
examples/mpi/balance    . mpi
examples/mpi/blocks     . mpi
examples/mpi/overlap    . mpi
examples/mpi/porttest   . mpi
examples/checkpoint     . mpi
examples/pm             . pm
examples/gang           . job mpi pm
examples/vmmc           . vmmc
examples/hashtable      . am
examples/fm             . fm
examples/services/perf  lab/perf/services
examples/services/sidecar stream
examples/nas/mg         . mpi examples/nas/npb
examples/nas/npb/npbtest . examples/nas/npb
examples/nas/npb        .
examples/nas/cg         . mpi examples/nas/npb
examples/nas/ep         . mpi examples/nas/npb
examples/nas/ft         . mpi examples/nas/npb
examples/nas/is         . mpi examples/nas/npb
examples/nas/cfd        . mpi examples/nas/npb
examples/nas/lu         . mpi examples/nas/cfd examples/nas/npb
examples/nas/sp         . examples/nas/cfd examples/nas/npb
examples/nas/bt         . examples/nas/cfd examples/nas/npb
internal/cli
internal/planted
internal/weak
extend                  . failure internal/amt internal/driver internal/engine/msg internal/hostbarrier internal/inside internal/waitgraph
internal/inside         internal/amt internal/bootstrap internal/driver internal/engine/msg internal/engine/rma internal/sharedmem internal/sim/job internal/waitgraph
internal/inbox          failure internal/driver internal/engine/rma internal/engine/wire internal/mailbox internal/mem internal/sharedmem internal/sys internal/timeline internal/transport
`

// only lists packages from outside that few packages may import.
var only = map[string][]string{
	"unsafe":                {"fabric/internal/ofi", "fabric/provider/core", "internal/mem", "internal/ring", "internal/sys", "internal/weak"},
	"golang.org/x/sys/cpu":  {"internal/checksum"},
	"golang.org/x/sys/unix": {"internal/sys"},
	// signals, exit statuses, limits
	"syscall": {".", "cmd/weft", "fabric/internal/ofi", "internal/cli", "internal/control", "job", "examples/checkpoint", "examples/gang", "internal/bootstrap/environment",
		"internal/counters/directory", "internal/agent", "internal/join", "internal/launch", "internal/process", "internal/sys", "stream",
		"internal/transport/transporttest"},
	"math/rand/v2": {"internal/handshake", "internal/transport/faulty", "internal/sim"},
}

// impure lists what no package of the engine, and no other state machine, may import, and what to do
// instead.
var impure = map[string]string{
	"context":     "an engine never waits",
	"os":          "the driver does I/O",
	"net":         "the driver does I/O",
	"log":         "count it in Stats",
	"log/slog":    "count it in Stats",
	"sync":        "the driver, which runs the engine, holds the lock",
	"sync/atomic": "the driver, which runs the engine, holds the lock",
	"math/rand":   "randomness is handed in",
	"crypto/rand": "randomness is handed in",
}

// sources calls f with every file of the module that is not a test.
func sources(t *testing.T, root string, mode parser.Mode, f func(pkg string, fset *token.FileSet, file *ast.File)) {
	t.Helper()
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (name == "lab" || name == ".ci") {
			return fs.SkipDir // modules of their own, which import what they like; nothing imports them
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(fset, name, nil, mode)
		if err == nil {
			f(path.Dir(filepath.ToSlash(name)), fset, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImports(t *testing.T) {
	want := map[string][]string{}
	for line := range strings.Lines(imports) {
		if words := strings.Fields(line); len(words) > 0 {
			want[words[0]] = words[1:]
		}
	}
	have := map[string]map[string]bool{}
	sources(t, ".", parser.ImportsOnly, func(pkg string, _ *token.FileSet, file *ast.File) {
		if have[pkg] == nil {
			have[pkg] = map[string]bool{}
		}
		for _, spec := range file.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if users, ok := only[imp]; ok && !slices.Contains(users, pkg) {
				t.Errorf("%s imports %s, which only %v may", pkg, imp, users)
			}
			pure := strings.HasPrefix(pkg, "internal/engine") || pkg == "internal/agreement" || pkg == "internal/driver/duty"
			if why := impure[imp]; pure && why != "" {
				t.Errorf("%s imports %s: %s", pkg, imp, why)
			}
			switch {
			case imp == "weft":
				have[pkg]["."] = true
			case strings.HasPrefix(imp, "weft/"):
				have[pkg][strings.TrimPrefix(imp, "weft/")] = true
			}
		}
	})
	for pkg, deps := range have {
		allowed, ok := want[pkg]
		if !ok {
			t.Errorf("%s is not in the table", pkg)
			continue
		}
		for dep := range deps {
			if !slices.Contains(allowed, dep) {
				t.Errorf("%s must not import %s", pkg, dep)
			}
		}
		for _, dep := range allowed {
			if !deps[dep] {
				t.Errorf("%s does not import %s any more: take it out of the table", pkg, dep)
			}
		}
	}
	for pkg := range want {
		if have[pkg] == nil {
			t.Errorf("%s is in the table, but there is no such package", pkg)
		}
	}
}

// TestStreamIsLight: a program that imports package stream links no module but golang.org/x/sys, and no net/http.
func TestStreamIsLight(t *testing.T) {
	table := map[string][]string{}
	for line := range strings.Lines(imports) {
		if words := strings.Fields(line); len(words) > 0 {
			table[words[0]] = words[1:]
		}
	}
	linked := map[string]bool{}
	for todo := []string{"stream"}; len(todo) > 0; todo = todo[1:] {
		if !linked[todo[0]] {
			linked[todo[0]] = true
			todo = append(todo, table[todo[0]]...)
		}
	}
	sources(t, ".", parser.ImportsOnly, func(pkg string, _ *token.FileSet, file *ast.File) {
		for _, spec := range file.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			foreign := strings.Contains(imp, ".") && !strings.HasPrefix(imp, "golang.org/x/sys/")
			if linked[pkg] && (foreign || imp == "net/http") {
				t.Errorf("%s, which package stream needs, imports %s", pkg, imp)
			}
		}
	})
}

// Every package tells what it is for, in doc.go or where its one file begins.
func TestPackagesAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	sources(t, ".", parser.ParseComments, func(pkg string, _ *token.FileSet, file *ast.File) {
		documented[pkg] = documented[pkg] || file.Doc != nil
	})
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment", pkg)
		}
	}
}
