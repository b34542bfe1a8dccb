package eth

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"weft/internal/doorbell"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/transporttest"
	"weft/internal/waittest"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// network makes hosts for a test, or skips it.
func network(t testing.TB, hosts, mtu int) *netlab.Lab {
	t.Helper()
	return netlabtest.New(t, func() (*netlab.Lab, error) { return netlab.Make(hosts, mtu) })
}

// on opens a transport on a host.
func on(t testing.TB, h netlab.Host, cfg Config) (e *Transport) {
	t.Helper()
	err := sys.InNetwork(h.Namespace, func() (err error) {
		cfg.Interface = netlab.Interface
		e, err = Open(cfg)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTransportOfFrames(t *testing.T) {
	for name, mtu := range map[string]int{"1500": 1500, "9000": 9000} {
		t.Run(name, func(t *testing.T) {
			l := network(t, 8, mtu)
			transporttest.Run(t, func(t testing.TB, p transporttest.Place) (transport.Transport, transport.Doorbell) {
				return on(t, l.Hosts[p.Rank], Config{Job: 7, Rank: p.Rank, Bell: p.Bell}), p.Bell
			})
		})
	}
}

// TestStrangersOnASegment: frames of another job, and for another rank, never arrive.
func TestStrangersOnASegment(t *testing.T) {
	l := network(t, 2, 1500)
	bell := doorbell.NewChan()
	dst := on(t, l.Hosts[1], Config{Job: 7, Rank: 1, Bell: bell})
	defer dst.Close()
	for _, c := range []Config{{Job: 8, Rank: 0}, {Job: 7, Rank: 0, EtherType: EtherType + 1}, {Job: 7, Rank: 0}} {
		c.Bell = bell
		src := on(t, l.Hosts[0], c)
		defer src.Close()
		for rank := range 3 {
			if err := src.Dial(rank, dst.Card()); err != nil {
				t.Fatal(err)
			}
			src.Send([]transport.Out{{Peer: rank, Header: []byte{byte(c.Job), byte(rank)}}})
		}
	}
	// Virtual Ethernet keeps the order: what was to come has come with the last.
	var got []byte
	waittest.Poll(func() bool {
		var in [8]transport.In
		for _, p := range in[:dst.Poll(in[:])] {
			got = append(got, p.Data...)
		}
		dst.Release()
		return len(got) > 0
	})
	if string(got) != "\x07\x01" {
		t.Errorf("got % x", got)
	}
}

// TestOpenErrors: mistakes are told with what would be right.
func TestOpenErrors(t *testing.T) {
	for name, want := range map[string]string{"nothing0": "nothing0", "lo": "no Ethernet"} {
		_, err := Open(Config{Interface: name, Bell: doorbell.NewChan()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManyJobs: sixteen jobs on one interface do not see each other's frames.
func TestManyJobs(t *testing.T) {
	const (
		jobs = 16
		each = 50
	)
	l := network(t, 2, 1500)
	var src, dst [jobs]*Transport
	for job := range jobs {
		bell := doorbell.NewChan()
		src[job] = on(t, l.Hosts[0], Config{Job: uint64(job), Rank: 0, Bell: bell})
		dst[job] = on(t, l.Hosts[1], Config{Job: uint64(job), Rank: 1, Bell: bell})
		defer src[job].Close()
		defer dst[job].Close()
		if err := src[job].Dial(1, dst[job].Card()); err != nil {
			t.Fatal(err)
		}
	}
	for range each {
		for job := range jobs {
			src[job].Send([]transport.Out{{Peer: 1, Header: []byte{byte(job)}}})
		}
	}
	for job := range jobs {
		got := 0
		waittest.Until(t, "all frames come", func() bool {
			var in [16]transport.In
			for _, p := range in[:dst[job].Poll(in[:])] {
				if got++; len(p.Data) != 1 || p.Data[0] != byte(job) {
					t.Fatalf("job %d: a frame of job %d", job, p.Data[0])
				}
			}
			dst[job].Release()
			return got >= each
		})
		if got != each || dst[job].Pending() {
			t.Errorf("job %d got %d frames of %d", job, got, each)
		}
	}
}

// envOpen makes the test program open a transport and say what it may still do.
const envOpen = "WEFT_TEST_OPEN"

func TestMain(m *testing.M) {
	if os.Getenv(envOpen) == "" {
		os.Exit(m.Run())
	}
	e, err := Open(Config{Interface: netlab.Interface, Job: 7, Bell: doorbell.NewChan()})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(e.Device())
	tasks, _ := filepath.Glob("/proc/self/task/*/status")
	for _, name := range tasks {
		b, _ := os.ReadFile(name)
		for _, line := range strings.Split(string(b), "\n") {
			if strings.HasPrefix(line, "CapEff") || strings.HasPrefix(line, "CapPrm") {
				fmt.Println(line)
			}
		}
	}
}

// TestPrivilege: an ordinary user needs CAP_NET_RAW, is told how to get it, and
// does not keep it.
func TestPrivilege(t *testing.T) {
	l := network(t, 2, 1500)
	dir, err := os.MkdirTemp("/tmp", "weft") // where another user can reach it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "eth.test")
	self, err := os.ReadFile("/proc/self/exe") // built without cgo: see sys.DropNetworkCapabilities
	if err == nil {
		err = os.WriteFile(program, self, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(caps ...uintptr) string {
		cmd := exec.Command(program)
		cmd.Env = []string{envOpen + "=1"}
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, AmbientCaps: caps}
		var out bytes.Buffer
		cmd.Stdout = &out
		cmd.Stderr = &out
		if err := sys.InNetwork(l.Hosts[0].Namespace, cmd.Start); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		return out.String()
	}
	const netRaw = 13
	if s := run(netRaw); !strings.HasPrefix(s, "AF_PACKET\n") || strings.Count(s, "Cap") < 2 ||
		strings.Count(s, "Cap") != strings.Count(s, "0000000000000000") {
		t.Errorf("with the capability: %s", s)
	}
	if s := run(); !strings.Contains(s, "setcap cap_net_raw+ep") {
		t.Errorf("without: %s", s)
	}
}
