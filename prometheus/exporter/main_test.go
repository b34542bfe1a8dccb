package main

import (
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"weft/internal/counters"
	"weft/internal/counters/directory"
)

// TestExporter: what a rank counts is served.
func TestExporter(t *testing.T) {
	t.Setenv(directory.Env, t.TempDir())
	f, err := directory.Create(1, counters.Identity{Rank: 1, Size: 2, PID: os.Getpid(), Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Page.Peer(0).Sent.Messages = 5
	server := httptest.NewServer(handler())
	defer server.Close()
	r, err := server.Client().Get(server.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if want := `weft_sent_messages_total{job="` + directory.Name(1) +
		`",peer="0",rank="1",transport=""} 5`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%v: %s is not in\n%s", err, want, text)
	}
}
