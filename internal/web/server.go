package web

import (
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

//go:embed page.html
var jobPage []byte

//go:embed streams.html
var streamsPage []byte

// A Source returns the current state of the job.
type Source func() State

// An answer is what is served under a name beside the page, as JSON.
type answer func(r *http.Request) ([]byte, error)

// most is how many connections are open at a time. Further ones wait in the kernel, so that they take no descriptors
// from the launcher.
const most = 128

// fresh is the time for which a state is served again: a new one takes a question to every rank.
const fresh = 500 * time.Millisecond

// A memory asks a source once for all requests that arrive at about the same time.
type memory struct {
	source Source

	mu   sync.Mutex
	made time.Time
	last State
	text []byte // last as JSON; nil: there is none
}

// state returns the state as JSON.
func (m *memory) state() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.text != nil && time.Since(m.made) < fresh {
		return m.text, nil
	}
	m.last = m.source()
	text, err := json.Marshal(m.last)
	m.text = text
	m.made = time.Now()
	return text, err
}

// detail returns as JSON what the last state has of a pair.
func (m *memory) detail(from, to int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return json.Marshal(m.last.detail(from, to))
}

// A Server serves the page to browsers that know its address with the token.
type Server struct {
	address  string
	listener net.Listener
	http     http.Server
}

// Listen serves the page of a job at an address such as :8080, which without a host means the
// loopback interface. Only requests with the token that URL contains are answered.
func Listen(address string, source Source) (*Server, error) {
	m := &memory{source: source}
	return listen(address, jobPage, map[string]answer{
		"state": func(*http.Request) ([]byte, error) { return m.state() },
		"detail": func(r *http.Request) ([]byte, error) {
			from, errFrom := strconv.Atoi(r.FormValue("from"))
			to, errTo := strconv.Atoi(r.FormValue("to"))
			if err := errors.Join(errFrom, errTo); err != nil {
				return nil, &badRequestError{err}
			}
			return m.detail(from, to)
		},
	})
}

// ListenStreams is Listen for the page of the servers of streams on this host. What servers returns is served as JSON.
func ListenStreams(address string, servers func() any) (*Server, error) {
	return listen(address, streamsPage, map[string]answer{
		"state": func(*http.Request) ([]byte, error) { return json.Marshal(servers()) },
	})
}

// A badRequestError is an error of the browser's.
type badRequestError struct{ error }

func listen(address string, page []byte, answers map[string]answer) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("weft: %q is no address for the page: %w", address, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("weft: the page: %w", err)
	}
	token := rand.Text()
	s := &Server{address: fmt.Sprintf("http://%s/%s/", l.Addr(), token), listener: l}
	s.http = http.Server{
		Handler: handler(token, page, answers), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		WriteTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	go func() { _ = s.http.Serve(netutil.LimitListener(l, most)) }()
	return s, nil
}

// URL returns the address of the page, with its token.
func (s *Server) URL() string { return s.address }

// Close ends the server.
func (s *Server) Close() error { return s.http.Close() }

// handler answers requests under /TOKEN/, and no others.
func handler(token string, page []byte, answers map[string]answer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{token}/{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'")
		_, _ = w.Write(page)
	})
	for name, answer := range answers {
		mux.HandleFunc("GET /{token}/"+name, func(w http.ResponseWriter, r *http.Request) {
			text, err := answer(r)
			write(w, text, err)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		given, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			http.NotFound(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// write answers with JSON.
func write(w http.ResponseWriter, text []byte, err error) {
	if bad := new(badRequestError); errors.As(err, &bad) {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}
