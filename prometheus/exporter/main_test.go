package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
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

// TestStrangers: garbage and headers without end are refused, connections that say nothing are bounded, and the
// exporter serves when they have gone.
func TestStrangers(t *testing.T) {
	t.Setenv(directory.Env, t.TempDir())
	server := httptest.NewUnstartedServer(nil)
	gone := make(chan struct{}, 4*mostOpen)
	config := serving()
	count := config.ConnState
	config.ConnState = func(c net.Conn, s http.ConnState) {
		if count(c, s); s == http.StateClosed {
			gone <- struct{}{}
		}
	}
	server.Config = config
	server.Start()
	defer server.Close()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for what, status := range map[string]int{
		strings.Repeat("garbage ", 100) + "\r\n\r\n":                             http.StatusBadRequest,
		"GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 4*mostHeader) + "\r\n\r\n": http.StatusRequestHeaderFieldsTooLarge,
	} {
		c := dial()
		go func() { _, _ = io.WriteString(c, what) }()
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || r.StatusCode != status {
			t.Errorf("%.20q…: %v, want status %d", what, err, status)
		}
		c.Close()
		<-gone
	}
	var silent []net.Conn
	for range mostOpen + 8 {
		silent = append(silent, dial())
	}
	for range 8 {
		<-gone // those that are too many
	}
	for _, c := range silent {
		c.Close()
	}
	for range mostOpen {
		<-gone
	}
	r, err := server.Client().Get(server.URL + "/metrics")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("after the strangers: %v", err)
	}
}
