package main

import (
	"fmt"

	"weft/internal/amt"
	"weft/internal/cli"
)

// amtEnv is the environment that gives the ranks of a job receive rings: those of
// a table's file, which is read here so that a mistake is told once.
func amtEnv(text string, ranks int) (string, error) {
	if _, err := amt.Load(text, ranks); err != nil {
		return "", fmt.Errorf("run: -amt %s: %w", text, err)
	}
	return "WEFT_AMT=" + cli.Absolute(text), nil
}

// traceEnv is the environment that makes the ranks of a job write a trace.
func traceEnv(file string) string { return "WEFT_TRACE=" + cli.Absolute(file) }
