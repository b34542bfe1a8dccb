package web

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// get returns the status and the body of an answer.
func get(t *testing.T, address string) (status int, body string) {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

// TestToken: nothing is answered without the token, and with it the page and the state.
func TestToken(t *testing.T) {
	s, err := Listen(":0", func() State { return State{Title: "a job", Ranks: []Rank{{Host: "h"}}} })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	root, _, _ := strings.Cut(strings.TrimPrefix(s.URL(), "http://"), "/")
	if host, _, _ := net.SplitHostPort(root); host != "127.0.0.1" {
		t.Errorf("it listens at %s", root)
	}
	for _, path := range []string{"", "state", "wrong/", "wrong/state", "//", "%2f"} {
		if status, body := get(t, "http://"+root+"/"+path); status != http.StatusNotFound || strings.Contains(body, "a job") {
			t.Errorf("/%s: status %d: %s", path, status, body)
		}
	}
	if status, body := get(t, s.URL()); status != http.StatusOK || !strings.Contains(body, "<canvas") {
		t.Errorf("the page: status %d", status)
	}
	status, body := get(t, s.URL()+"state")
	var state State
	if err := json.Unmarshal([]byte(body), &state); err != nil || status != http.StatusOK || state.Title != "a job" {
		t.Errorf("the state: status %d, %v: %s", status, err, body)
	}
	if status, _ := get(t, s.URL()+"else"); status != http.StatusNotFound {
		t.Errorf("something else: status %d", status)
	}
}

// TestPageNeedsNoNetwork: the page refers to nothing outside.
func TestPageNeedsNoNetwork(t *testing.T) {
	text := strings.ReplaceAll(string(page), "http://www.w3.org/2000/svg", "")
	for _, word := range []string{"http:", "https:", "src=", "@import", "url(h"} {
		if strings.Contains(text, word) {
			t.Errorf("there is %q in the page", word)
		}
	}
}

func TestAddress(t *testing.T) {
	if s, err := Listen("nonsense", nil); err == nil {
		s.Close()
		t.Error("an address without a port is taken")
	}
}
