// First is what the go command runs in place of the linter beside it. It answers for packages of others that no package
// here imports, two in three of all. The linter itself takes a tenth of a second to start.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// imported has others' packages that the product or the laboratory imports, between commas. The linker sets it
// (.ci/lint), so the go command forgets its results when the list changes.
var imported string

func main() {
	log.SetFlags(0)
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	linter := filepath.Join(filepath.Dir(self), "linter")
	last := os.Args[len(os.Args)-1]
	switch {
	case last == "-V=full":
		// The go command keeps results as long as what follows is the same.
		h := sha256.New()
		for _, name := range []string{self, linter} {
			text, err := os.ReadFile(name)
			if err != nil {
				log.Fatal(err)
			}
			h.Write(text)
		}
		fmt.Printf("first version devel buildID=%x\n", h.Sum(nil))
		return
	case strings.HasSuffix(last, ".cfg"):
		if output := unasked(last); output != "" {
			// No code here calls it, so nobody asks what there is to know of it.
			if err := os.WriteFile(output, nil, 0o666); err != nil {
				log.Fatal(err)
			}
			return
		}
	}
	log.Fatal(syscall.Exec(linter, os.Args, os.Environ()))
}

// unasked returns where the answer goes of a package that no package here imports, or "".
func unasked(file string) string {
	var q struct {
		ImportPath string
		VetxOnly   bool // only what packages that import this one need to know
		VetxOutput string
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &q)
	}
	if err != nil {
		log.Fatal(err)
	}
	ours := strings.HasPrefix(q.ImportPath+"/", "weft/")
	if !q.VetxOnly || ours || strings.Contains(","+imported+",", ","+q.ImportPath+",") {
		return ""
	}
	return q.VetxOutput
}
