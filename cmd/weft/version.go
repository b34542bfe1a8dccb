package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/peterbourgon/ff/v3/ffcli"
)

// release is the version that this source is, or becomes.
const release = "v0.1.0"

// A buildInfo says what this executable was built from, and for. It is what weft version -json prints.
type buildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // the commit, if the go command knew it
	Modified bool   `json:"modified,omitempty"` // there were changes that are not in the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func versionCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft version", flag.ContinueOnError)
	asJSON := fs.Bool("json", false, "print one JSON object")
	return &ffcli.Command{
		Name:       "version",
		ShortUsage: "weft version [-json]",
		ShortHelp:  "print the version, and what it was built from",
		FlagSet:    fs,
		Exec: func(_ context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("version: %q: it takes no arguments", args[0])
			}
			if *asJSON {
				return json.NewEncoder(os.Stdout).Encode(thisBuild())
			}
			fmt.Println(version())
			return nil
		},
	}
}

func thisBuild() buildInfo {
	b := buildInfo{Version: release, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// version returns a line that two executables share only if they were built from the same source for the same system.
func version() string {
	b := thisBuild()
	return fmt.Sprintf("weft %s %s %s/%s", build(), b.Go, b.OS, b.Arch)
}

// build returns the release and, where the go command knew it, the commit: v0.1.0+1a2b3c4d5e6f.
func build() string {
	b := thisBuild()
	if b.Revision == "" {
		return b.Version
	}
	text := b.Version + "+" + b.Revision[:min(len(b.Revision), 12)]
	if b.Modified {
		text += ".modified"
	}
	return text
}
