package web

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"weft/internal/counters"
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
	text := strings.ReplaceAll(string(jobPage)+string(streamsPage), "http://www.w3.org/2000/svg", "")
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

// TestDetail: what a pair's histogram and its sender's waits are is served apart from the state, and only for numbers.
func TestDetail(t *testing.T) {
	state := State{
		Ranks: []Rank{{Waited: []counters.WaitCounts{{Operation: "receive", Wait: counters.Wait{Count: 3, Slept: 1}}}}, {}},
		Pairs: []Pair{{From: 0, To: 1, Times: Classes([]float64{3, 1, 900, 2})}},
	}
	s, err := Listen(":0", func() State { return state })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, body := get(t, s.URL()+"state"); strings.Contains(body, "receive") || strings.Contains(body, "Times\":") {
		t.Errorf("the state has the details: %s", body)
	}
	for query, want := range map[string]string{
		"from=0&to=1": `{"Times":[{"below_ns":2,"count":1},{"below_ns":4,"count":2},{"below_ns":1024,"count":1}],` +
			`"Waited":[{"operation":"receive","count":3,"slept":1,"polled_ns":0,"asleep_ns":0}]}`,
		"from=1&to=0":  `{"Times":null,"Waited":null}`,
		"from=-1&to=7": `{"Times":null,"Waited":null}`,
		"from=9&to=1":  `{"Times":null,"Waited":null}`,
	} {
		if status, body := get(t, s.URL()+"detail?"+query); status != http.StatusOK || body != want {
			t.Errorf("%s: status %d: %s", query, status, body)
		}
	}
	for _, query := range []string{"", "from=x&to=1", "from=0"} {
		if status, _ := get(t, s.URL()+"detail?"+query); status != http.StatusBadRequest {
			t.Errorf("%q: status %d", query, status)
		}
	}
}
