package services

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWrite: a row takes the place of the one of the same request before it, and other rows stay; a page without its
// marks, and results without a Unix socket, are refused, and the page stays as it is.
func TestWrite(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	const first = "| HTTP GET, 64 bytes | 1 | 1.0 | 2.0 | 0.50 | 0.50 |\n"
	const others = "| HTTP GET, 64 bytes | 10 | 1.0 | 2.0 | 0.50 | 0.50 |\n| other | 1 | 1.0 | 2.0 | 0.50 | 0.50 |\n"
	const text = "above\n" + figuresBegin + figuresHead + first + others + figuresEnd + "\nbelow\n"
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	has := func(want string) {
		t.Helper()
		if b, err := os.ReadFile(page); err != nil || string(b) != want {
			t.Errorf("the page has %q, %v", b, err)
		}
	}
	results := []Result{
		{Protocol: "http", System: "unix", Connections: 1, P50: 80, P99: 100},
		{Protocol: "http", System: "tcp", Connections: 1, P50: 90},
		{Protocol: "http", System: "weft", Connections: 1, P50: 60, P99: 90},
		{Protocol: "http", System: "weft", Connections: 64, P50: 10}, // its Unix socket was not measured
	}
	if err := write(page, results[1:]); err == nil {
		t.Error("there is nothing to compare with")
	}
	has(text)
	const row = "| HTTP GET, 64 bytes | 1 | 60.0 | 80.0 | 0.75 | 0.90 |\n"
	for range 2 {
		if err := write(page, results); err != nil {
			t.Fatal(err)
		}
		has("above\n" + figuresBegin + figuresHead + row + others + figuresEnd + "\nbelow\n")
	}
	const empty = "above\n" + figuresBegin + figuresEnd + "\nbelow\n"
	if err := os.WriteFile(page, []byte(empty), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(page, results); err != nil {
		t.Fatal(err)
	}
	has("above\n" + figuresBegin + figuresHead + row + figuresEnd + "\nbelow\n")
	if err := os.WriteFile(page, []byte("nothing"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(page, results); err == nil {
		t.Error("a page without marks")
	}
	has("nothing")
}
