package main

import (
	"fmt"
	"os"

	"weft/internal/amt"
	"weft/internal/cli"
)

// amtEnv is the environment that gives the ranks of a job receive rings: those of
// a table's file, which is read here so that a mistake is told once.
func amtEnv(text string, ranks int) (string, error) {
	const env = "WEFT_AMT="
	if text == "auto" {
		return env + text, nil
	}
	f, err := os.Open(text)
	if err != nil {
		return "", err
	}
	defer f.Close()
	t, err := amt.ReadTable(f)
	if err == nil {
		err = t.Fits(ranks)
	}
	if err != nil {
		return "", fmt.Errorf("run: -amt %s: %w", text, err)
	}
	return env + cli.Absolute(text), nil
}

// traceEnv is the environment that makes the ranks of a job write a trace.
func traceEnv(file string) string { return "WEFT_TRACE=" + cli.Absolute(file) }
