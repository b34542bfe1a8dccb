package join

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/bootstrap"
	"weft/internal/waittest"
)

// A place is where a rank of a test believes that it is: a job of two.
type place struct {
	bootstrap.Source
	local int // ranks on its host
	put   error
}

func (p place) Job() bootstrap.Job {
	job := p.Source.Job()
	job.Local = p.local
	return job
}

func (p place) Put(ctx context.Context, key, value string) error {
	if p.put != nil {
		return p.put
	}
	return p.Source.Put(ctx, key, value)
}

var errNoPut = errors.New("the launcher has not taken the card")

// nowhere is an address that no host has.
const nowhere = "203.0.113.9"

// Of a process that fails to join nothing is left, at whatever step it fails, and the step is the one that the test
// means.
func TestFailureLeavesNothing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no", "directory")
	for name, c := range map[string]struct {
		settings Settings
		local    int
		put      error
		env      []string // names and values
		want     string
	}{
		"transport":             {settings: Settings{Transport: "ib"}, want: "Config.Transport"},
		"guard":                 {settings: Settings{Guard: "rot13"}, want: "Config.Guard"},
		"liveness":              {settings: Settings{Liveness: 1}, want: "Liveness"},
		"spin":                  {env: []string{EnvSpin, "soon"}, want: EnvSpin},
		"faults":                {env: []string{EnvFaults, "lose=all"}, want: EnvFaults},
		"restart":               {env: []string{"WEFT_RESTART", "often"}, want: "WEFT_RESTART"},
		"trace":                 {env: []string{EnvTrace, missing}, want: EnvTrace},
		"timeline":              {env: []string{EnvTimeline, "1"}, want: EnvTimeline},
		"rings":                 {env: []string{EnvAMT, missing}, want: EnvAMT},
		"shm, put":              {settings: Settings{Transport: "shm"}, put: errNoPut, want: "taken the card"},
		"udp, put":              {settings: Settings{Transport: "udp"}, put: errNoPut, want: "taken the card"},
		"tcp, put":              {settings: Settings{Transport: "tcp"}, put: errNoPut, want: "taken the card"},
		"shm and udp, put":      {settings: Settings{Transport: "shm"}, local: 1, put: errNoPut, want: "taken the card"},
		"udp, address":          {settings: Settings{Transport: "udp", Bind: nowhere}, want: "udp"},
		"udp, MTU":              {settings: Settings{Transport: "udp", MTU: 1}, want: "MTU"},
		"tcp, address":          {settings: Settings{Transport: "tcp", Bind: nowhere}, want: "tcp"},
		"shm and udp, address":  {settings: Settings{Transport: "shm", Bind: nowhere}, local: 1, want: "udp"},
		"eth, no interface":     {settings: Settings{Transport: "eth"}, want: EnvInterface},
		"eth, other interface":  {settings: Settings{Transport: "eth", Interface: "none"}, want: "none"},
		"eth, alone":            {settings: Settings{Transport: "eth", Interface: "none"}, local: 1, want: "none"},
		"eth optional, address": {settings: Settings{Interface: "none", Bind: nowhere}, local: 1, want: "udp"},
	} {
		t.Run(name, func(t *testing.T) {
			for i := 0; i < len(c.env); i += 2 {
				t.Setenv(c.env[i], c.env[i+1])
			}
			if c.local == 0 {
				c.local = 2
			}
			if c.put != nil { // all that can be open by then is
				t.Setenv(EnvTrace, filepath.Join(t.TempDir(), "trace"))
			}
			waittest.Flat(t, func() {
				src := oneOfTwo()
				m, err := Join(t.Context(), c.settings, place{src, c.local, c.put})
				if m != nil || err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("%v, want %q", err, c.want)
				}
			})
		})
	}
}

// oneOfTwo returns the source of a rank of a job whose other rank has left.
func oneOfTwo() bootstrap.Source {
	sources := bootstrap.NewLocal(2)
	sources[1].Close()
	return sources[0]
}

// A rank that has joined and leaves leaves nothing behind but its page of counters, which its program may still use.
func TestCloseLeavesNothing(t *testing.T) {
	t.Setenv("WEFT_COUNTERS", "off")
	t.Setenv(EnvTrace, filepath.Join(t.TempDir(), "trace"))
	for _, transport := range []string{Auto, "shm", "udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			waittest.Flat(t, func() {
				m, err := Join(t.Context(), Settings{Transport: transport}, oneOfTwo())
				if err == nil {
					err = m.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
