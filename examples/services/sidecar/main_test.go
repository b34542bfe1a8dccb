package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The test's executable is also the application, as a process of its own.
func TestMain(m *testing.M) {
	if path := os.Getenv("WEFT_SIDECAR_APP"); path != "" {
		go func() { // it ends with the test
			io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		fmt.Println(run(context.Background(), []string{"app", path}, os.Stdout))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// app starts the application, and returns its process when it listens.
func app(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WEFT_SIDECAR_APP="+path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	if lines := bufio.NewScanner(out); !lines.Scan() || lines.Text() != path {
		t.Fatalf("the application says %q", lines.Text())
	}
	return cmd
}

func ask(t *testing.T, server *httptest.Server, body string) (status int, text string) {
	t.Helper()
	answer, err := server.Client().Post(server.URL+"/some/where", "text/plain", strings.NewReader(body))
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

// The world reaches the application by its sidecar, many at a time; while the application is
// down the sidecar says so, and when there is a new one it is reached.
func TestSidecar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.sock")
	server := httptest.NewServer(proxy(path))
	defer server.Close()
	if status, text := ask(t, server, ""); status != http.StatusBadGateway || !strings.Contains(text, "is down") {
		t.Errorf("before the application is there: %d %s", status, text)
	}
	for life := range 2 {
		cmd := app(t, path)
		var clients sync.WaitGroup
		var mu sync.Mutex
		numbers := map[string]bool{}
		for range 8 {
			clients.Go(func() {
				for range 25 {
					status, text := ask(t, server, strings.Repeat("x", 3000))
					var pid, n, bytes int
					var number, method, where string
					if _, err := fmt.Sscanf(text, "process %d, request %d: %s %s %d", &pid, &n, &method, &where, &bytes); err != nil ||
						status != http.StatusOK || pid != cmd.Process.Pid || method != "POST" || where != "/some/where" || bytes != 3000 {
						t.Errorf("life %d: %d %s", life, status, text)
						return
					}
					number = fmt.Sprint(n)
					mu.Lock()
					if numbers[number] {
						t.Errorf("two requests have the number %s", number)
					}
					numbers[number] = true
					mu.Unlock()
				}
			})
		}
		clients.Wait()
		cmd.Process.Kill()
		cmd.Wait()
		if status, text := ask(t, server, "x"); status != http.StatusBadGateway {
			t.Errorf("when the application has been killed: %d %s", status, text)
		}
	}
}

// Wrong arguments are answered by what there is.
func TestArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"app"}, {"proxy", "localhost:0"}, {"other", "x"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
