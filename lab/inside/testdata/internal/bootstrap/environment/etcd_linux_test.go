//go:build !race

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weft/failure"
	"weft/internal/bootstrap/etcd"
	"weft/internal/programtest"
)

// withEtcd returns an executable of a package that imports weft/etcd as well, which the package itself does not.
func withEtcd(t *testing.T, pkg string) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "etcd.go")
	overlay := filepath.Join(dir, "overlay.json")
	module, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	replaced := filepath.Join(module, strings.TrimPrefix(pkg, "weft/"), "etcd.go")
	for name, text := range map[string]string{
		source:  "package main\n\nimport _ \"weft/etcd\"\n",
		overlay: fmt.Sprintf(`{"Replace": {%q: %q}}`, replaced, source),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return programtest.Make(t, dir, pkg, "-overlay", overlay)
}

// startEtcd starts a cluster of one, and returns where it is.
func startEtcd(t *testing.T) string {
	t.Helper()
	need(t, "etcd")
	client := "http://127.0.0.1:" + freePort(t)
	peer := "http://127.0.0.1:" + freePort(t)
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, "etcd", "--data-dir", t.TempDir(), "--listen-client-urls", client,
		"--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer,
		"--log-level", "error")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = c.Wait() // it was killed
	})
	return strings.TrimPrefix(client, "http://")
}

// Processes that know only how many they are get ranks from etcd, find each other there although
// it starts late, and leave nothing there.
func TestEtcd(t *testing.T) {
	need(t, "etcd")
	is := withEtcd(t, "weft/examples/nas/is")
	at := startEtcd(t)
	env := []string{EnvSecret + "=a secret for a test of etcd", EnvSize + "=4",
		EnvRendezvous + "=etcd://" + at + "/jobs/sort"}
	var ranks []*process
	for range 4 {
		ranks = append(ranks, begin(t, env, is, "-class", class()))
	}
	sorts(t, finish(t, ranks), nil)
	c := etcd.New([]string{at})
	defer c.Close()
	if keys, _, err := c.List(t.Context(), "/weft/"); err != nil || len(keys) != 0 {
		t.Errorf("%q is left: %v", keys, err)
	}
	t.Run("sealed", func(t *testing.T) { testSealed(t, at) })
}

// What is in etcd can be read, and made, only with the secret, and is of its place.
func testSealed(t *testing.T, at string) {
	open := func(name, secret string) *etcd.Meeting {
		m, err := etcd.NewMeeting([]string{at}, name, []byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Leave)
		if err := m.Hold(t.Context()); err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := open("sealed", "a secret")
	if err := m.Publish(t.Context(), "where"); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Find(t.Context()); err != nil || got != "where" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := open("sealed", "another secret").Find(t.Context()); !errors.Is(err, failure.ErrSecret) {
		t.Errorf("another secret: %v", err)
	}
	copyKey(t, at, "/weft/sealed/store/0", "/weft/elsewhere/store/0")
	if _, err := open("elsewhere", "a secret").Find(t.Context()); !errors.Is(err, failure.ErrSecret) {
		t.Errorf("moved: %v", err)
	}
	got := map[int]bool{}
	for range 3 {
		rank, err := m.Claim(t.Context(), 3, "h")
		if err != nil || got[rank] {
			t.Errorf("rank %d: %v", rank, err)
		}
		got[rank] = true
	}
	if err := m.Publish(t.Context(), "there"); !errors.Is(err, etcd.ErrTaken) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second rank 0: %v", err)
	}
}

// copyKey puts the value of a key under another one: any writer to etcd can do so.
func copyKey(t *testing.T, at, from, to string) {
	t.Helper()
	c := etcd.New([]string{at})
	t.Cleanup(c.Close)
	value, found, _, err := c.Get(t.Context(), from)
	if err != nil || !found {
		t.Fatalf("%s: %v, %v", from, found, err)
	}
	l, err := c.Grant(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := l.Put(t.Context(), to, value); !ok || err != nil {
		t.Fatalf("%s: %v, %v", to, ok, err)
	}
	t.Cleanup(func() { _ = l.Revoke(context.Background()) })
}
