package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/peterbourgon/ff/v3/ffcli"
)

func versionCommand() *ffcli.Command {
	return &ffcli.Command{
		Name: "version", ShortUsage: "weft version", ShortHelp: "print the version",
		Exec: func(context.Context, []string) error {
			fmt.Println(version())
			return nil
		},
	}
}

// version returns the version of this build, and of what it was built with and for.
func version() string {
	return fmt.Sprintf("weft %s %s %s/%s", build(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// build returns the version of this build, as the go command recorded it.
func build() string {
	v := "(devel)"
	if b, ok := debug.ReadBuildInfo(); ok {
		v = b.Main.Version
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" && v == "(devel)" {
				v = s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	return v
}
