package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"weft/internal/sys"
)

var rewrite = flag.Bool("rewrite", false, "write what is printed as what is wanted")

// good is a host with which nothing is wrong.
func good(name string) Host {
	return Host{
		Name: name, Weft: "v1.0.0", Binary: "0123456789ab", Kernel: "6.1.0", Machine: "x86_64", Processors: 64, CPUs: 64,
		Memory: 256 << 30, ClockSource: "tsc",
		Raw: true, Files: 1 << 20, Processes: 1 << 20, Receive: wantedBuffer,
		Send: wantedBuffer,
		Features: []sys.Feature{{Name: "memfd", Use: "shared memory between the ranks of a host"},
			{Name: "UDP_GRO", Use: "batches of packets that the kernel joins"}},
		Interfaces: []Interface{{Name: "eth0", MTU: 9000, Mbps: 100000}},
	}
}

// cluster is as many good hosts, with a good way between each two.
func cluster(names ...string) *Report {
	r := &Report{}
	for i, name := range names {
		rank := Rank{Rank: i, Host: good(name)}
		for j := range names {
			if j == i {
				continue
			}
			p := Peer{Rank: j, Transport: "eth", Why: "another host, and raw Ethernet on eth0 (AF_PACKET)", Guard: "checksum",
				MTU: 8972}
			if i < j {
				p.Measured = &Measured{Latency: 5 * time.Microsecond, Bandwidth: 9000, Offset: -30 * time.Microsecond,
					Uncertainty: 6 * time.Microsecond, Packets: 10000}
			}
			rank.Peers = append(rank.Peers, p)
		}
		r.Ranks = append(r.Ranks, rank)
	}
	return r
}

// sick is a cluster in which much is wrong.
func sick() *Report {
	r := cluster("n01", "n02", "n03", "n04")
	h := &r.Ranks[1].Host
	h.Files = 128
	h.Receive = 208 << 10
	h.Raw = false
	h.ClockSource = "hpet"
	h.CPUs = 0.5
	h.Features[1].Missing = "the kernel does not know it"
	h.Features = append(h.Features, sys.Feature{
		Name: "AF_PACKET", Use: "raw Ethernet", Missing: "it needs CAP_NET_RAW: operation not permitted",
	})
	r.Ranks[2].Host.Interfaces[0].MTU = 1500
	r.Ranks[2].Host.Machine = "aarch64"
	r.Ranks[3].Host.Weft = "v0.9.0"
	for i := range 3 { // nobody reaches n04
		r.Ranks[i].Peers[2] = Peer{Rank: 3, Error: "silent for 3s"}
		r.Ranks[3].Peers[i] = Peer{Rank: i, Error: "silent for 3s"}
	}
	udp := func(i, at, peer int) {
		p := &r.Ranks[i].Peers[at]
		p.Transport = "udp"
		p.Why = "another host, so UDP; no libfabric (libfabric.so.1 is not installed (Debian: libfabric1)); " +
			"no interface for raw Ethernet is given (WEFT_INTERFACE)"
		p.MTU = 1472
		p.Guard = "authenticate"
	}
	udp(0, 0, 1)
	udp(1, 0, 0)
	r.Ranks[0].Peers[0].Offset = 2 * time.Second
	r.Ranks[0].Peers[0].Resent = 500
	r.Ranks[1].Peers[1].Transport = "udp"
	return r
}

// one is a host with two ranks.
func one() *Report {
	r := cluster("vm", "vm")
	for i := range r.Ranks {
		p := &r.Ranks[i].Peers[0]
		p.Transport = "shm"
		p.Why = "same host, so shared memory"
		p.Guard = ""
		p.MTU = 12288
	}
	return r
}

func TestPage(t *testing.T) {
	for name, r := range map[string]*Report{"good": cluster("n01", "n02", "n03"), "sick": sick(), "one": one()} {
		t.Run(name, func(t *testing.T) {
			r.Diagnose()
			var b bytes.Buffer
			if err := r.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".txt")
			if *rewrite {
				if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("%s is not what is printed; if that is meant: go test ./internal/doctor -rewrite\n%s", file, b.String())
			}
		})
	}
}

// Each thing that can be wrong is found alone, with what to do, where it is and as bad as it is.
func TestDiagnose(t *testing.T) {
	for _, c := range []struct {
		spoil  func(r *Report)
		weight Weight
		where  string
		what   string
	}{
		{func(r *Report) { r.Ranks[1].Host.Processes = 20 }, Stops, "b", "a user may have only 20 processes"},
		{func(r *Report) { r.Ranks[1].Host.Files = 100 }, Stops, "b", "a process may have only 100 descriptors"},
		{func(r *Report) { r.Ranks[1].Host.Weft = "v2" }, Stops, "b", "version of weft differs: v1.0.0 on a, c, d; v2 on b"},
		{func(r *Report) { r.Ranks[0].Peers[1].Error = "silent" }, Stops, "a – c", "they do not reach each other: silent"},
		{func(r *Report) { r.Ranks[2].Peers[0].Error = "silent" }, Stops, "a – c", "they do not reach each other: silent"},
		{func(r *Report) { r.Ranks[2].Host.Interfaces[0].MTU = 1500 }, Slow, "c",
			"MTU of eth0 differs: 9000 on a, b, d; 1500 on c"},
		{func(r *Report) { r.Ranks[2].Host.Interfaces[0].Mbps = 1000 }, Slow, "c",
			"speed of eth0 differs: 100 Gbit/s on a, b, d; 1 Gbit/s on c"},
		{func(r *Report) { r.Ranks[2].Host.CPUs = 8 }, Slow, "c",
			"number of processors for a rank differs: 64 on a, b, d; 8 on c"},
		{func(r *Report) { r.Ranks[2].Host.Features[0].Missing = "EPERM" }, Slow, "c",
			"no memfd (EPERM), so no shared memory"},
		{func(r *Report) { r.Ranks[2].Peers[0].MTU = 1400 }, Slow, "a – c",
			"the path takes packets of 1400 bytes, but the interfaces at its ends take 9000"},
		{func(r *Report) { r.Ranks[0].Peers[1].Latency = time.Millisecond }, Slow, "a – c",
			"a latency of 1000.0 µs; the median over eth is 5.0 µs"},
		{func(r *Report) { r.Ranks[0].Peers[1].Bandwidth = 100 }, Slow, "a – c",
			"a bandwidth of 100 MB/s; the median over eth is 9000 MB/s"},
		{func(r *Report) { r.Ranks[0].Peers[1].Resent = 100 }, Slow, "a – c", "1.0 % of the packets had to be sent again"},
		{func(r *Report) { r.Ranks[0].Peers[1].Offset = -time.Second }, Note, "a – c", "their clocks are 1s apart"},
		{func(r *Report) { r.Ranks[3].Host.Binary = "b" }, Note, "d", "file of the program differs"},
		{func(r *Report) { r.Ranks[3].Host.Kernel = "5.4" }, Note, "d", "kernel differs: 6.1.0 on a, b, c; 5.4 on d"},
	} {
		r := cluster("a", "b", "c", "d")
		c.spoil(r)
		r.Diagnose()
		if len(r.Findings) == 2 && strings.HasPrefix(r.Findings[1].What, "limit of ") { // which others do not have
			r.Findings = r.Findings[:1]
		}
		if len(r.Findings) != 1 {
			t.Errorf("%s: found %+v", c.what, r.Findings)
			continue
		}
		f := r.Findings[0]
		if f.Weight != c.weight || !slices.Equal(f.Where, []string{c.where}) || !strings.HasPrefix(f.What, c.what) {
			t.Errorf("found %+v, want %s at %s: %s", f, c.weight, c.where, c.what)
		}
		if r.Stops() != (c.weight == Stops) {
			t.Errorf("%s: stops a job: %v", c.what, r.Stops())
		}
	}
}

// A clock that is not apart by more than can be known is not found.
func TestUncertainClock(t *testing.T) {
	r := cluster("a", "b")
	r.Ranks[0].Peers[0].Offset = time.Second
	r.Ranks[0].Peers[0].Uncertainty = 950 * time.Millisecond
	r.Diagnose()
	if len(r.Findings) != 0 {
		t.Errorf("found %+v", r.Findings)
	}
}

// A rank that has told nothing of a peer has not tried.
func TestMissingPeer(t *testing.T) {
	r := cluster("a", "b")
	r.Ranks[0].Peers = nil
	r.Diagnose()
	if !r.Stops() || !strings.Contains(r.Findings[0].What, "it was not tried") {
		t.Errorf("found %+v", r.Findings)
	}
}

// What machines read is what was said.
func TestReportJSON(t *testing.T) {
	r := sick()
	r.Diagnose()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if err := errors.Join(r.WriteText(&a), back.WriteText(&b)); err != nil || a.String() != b.String() {
		t.Errorf("%v: %s\nis not\n%s", err, b.String(), a.String())
	}
}
