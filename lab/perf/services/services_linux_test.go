package services

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"weft/internal/explore"
	"weft/internal/sys"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// envClient makes the test's executable measure, as weftlab perf services does.
const envClient = "WEFT_TEST_MEASURES"

func measureAsCommand() {
	fs := flag.NewFlagSet("services", flag.ExitOnError)
	run := Command(fs)
	_ = fs.Parse(os.Args[1:])
	if err := run(context.Background(), os.Stdout, func(int, string) {}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestMain(m *testing.M) {
	if Server() {
		return
	}
	if os.Getenv(envClient) != "" {
		measureAsCommand()
		return
	}
	os.Exit(m.Run())
}

// Every protocol is measured over every system, between two processes, and every figure is plausible; in exploration
// for two numbers of connections, in two rounds.
func TestServicesAreMeasured(t *testing.T) {
	fs := flag.NewFlagSet("services", flag.ContinueOnError)
	run := Command(fs)
	rounds := explore.Choose(1, 2)
	connections := explore.Choose("7", "1,7") // as many numbers as rounds
	flags := []string{"-requests", "40", "-connections", connections, "-rounds", fmt.Sprint(rounds), "-json"}
	if err := fs.Parse(flags); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, func(int, string) {}); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(out.String()) {
		var r Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		ordered := 0 < r.P50 && r.P50 <= r.P99 && r.P99 <= r.P999
		if !ordered || r.Rate <= 0 || r.MBs <= 0 || r.Requests < rounds*3*r.Connections {
			t.Errorf("%+v", r)
		}
		lines++
	}
	if want := len(Systems) * len(Names()) * rounds; lines != want {
		t.Errorf("%d lines, want %d", lines, want)
	}
}

// TestServicesBetweenHosts: in a lab the server is on the second host, and the table has the systems that reach it,
// with each number of connections.
func TestServicesBetweenHosts(t *testing.T) {
	lab := netlabtest.New(t, func() (*netlab.Lab, error) { return netlab.Make(2, 1500) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	connections := explore.Choose("9", "1,9")
	cmd := exec.Command(self, "-requests", "30", "-connections", connections, "-rounds", "1", "-json")
	cmd.Env = append(os.Environ(), envClient+"=1", lab.Env(1))
	cmd.Stdout = &out
	cmd.Stderr = &said
	if err := sys.InNetwork(lab.Hosts[0].Namespace, cmd.Start); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	for _, protocol := range Names() {
		for _, connections := range strings.Split(connections, ",") {
			for _, system := range betweenHosts {
				line, _ := out.ReadString('\n')
				var r Result
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if r.Protocol != protocol || fmt.Sprint(r.Connections) != connections || r.System != system || r.P50 <= 0 || r.Rate <= 0 {
					t.Errorf("%+v", r)
				}
			}
		}
	}
}

// Mistakes in flags are named.
func TestMistakes(t *testing.T) {
	for _, args := range [][]string{
		{"-systems", "pigeon"}, {"-protocols", "gopher"}, {"-connections", "0"}, {"-connections", "x"},
		{"-requests", "0"}, {"-rounds", "0"},
	} {
		fs := flag.NewFlagSet("services", flag.ContinueOnError)
		run := Command(fs)
		if err := fs.Parse(args); err != nil {
			t.Fatal(err)
		}
		err := run(t.Context(), &bytes.Buffer{}, nil)
		if err == nil || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// The table compares each system with the first, and tells of failures.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	err := table(&out, []Result{
		{Protocol: "http", System: "unix", Connections: 1, P50: 40},
		{Protocol: "http", System: "weft", Connections: 1, P50: 20},
		{Protocol: "http", System: "tcp", Connections: 1, Error: "no route"},
	})
	text := out.String()
	if err != nil || !strings.Contains(text, "0.50 × unix") || !strings.Contains(text, "failed: no route") {
		t.Errorf("%v\n%s", err, &out)
	}
}
