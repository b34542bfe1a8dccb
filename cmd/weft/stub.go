package main

import "github.com/peterbourgon/ff/v3/ffcli"

func measured() bool              { return false }
func perfCommand() *ffcli.Command { return &ffcli.Command{Name: "perf"} }
func infoCommand() *ffcli.Command { return &ffcli.Command{Name: "info"} }
