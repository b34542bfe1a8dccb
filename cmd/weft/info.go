package main

import "github.com/peterbourgon/ff/v3/ffcli"

func infoCommand() *ffcli.Command { return &ffcli.Command{Name: "info"} }
func infoRank() bool              { return false }
