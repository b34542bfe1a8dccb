//go:build linux

package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft/internal/explore"
	"weft/lab/netlab/netlabtest"
	"weft/lab/perf"
)

// needsLab skips a test where hosts cannot be made.
func needsLab(t *testing.T) {
	t.Helper()
	netlabtest.Need(t)
	program(t, "weft/cmd/weft") // which the commands in the labs find
}

// built returns the words of a command, with the file of each program in place of its package.
func built(t *testing.T, command string) []string {
	t.Helper()
	words := strings.Fields(command)
	for i, word := range words {
		if strings.HasPrefix(word, "weft/") {
			words[i] = program(t, word)
		}
	}
	return words
}

// TestLab runs jobs between hosts, once with each flag, and leaves nothing behind.
func TestLab(t *testing.T) {
	needsLab(t)
	weftlab(t, "lab", "clean")
	for _, args := range []string{
		"lab -hosts 2 -mtu 9000 -- weft run -n 4 weft/examples/halo",
		"lab -hosts 2 -loss 0.02 -faults repeat=0.05,reorder=0.05,damage=0.05 -- weft run -n 2 -transport eth " +
			"weft/examples/halo -steps 20",
		"lab -hosts 2 -delay 200us -- weft run -n 2 -transport eth weft/examples/ping -count 20",
		"lab -hosts 3 -- weft run -n 4 -transport tcp weft/examples/nas/is -class S",
		"lab -router -rate 100 -queue 32 -- weft run -n 2 -transport udp weft/examples/nas/is -class S",
	} {
		out, stderr, status := weftlab(t, built(t, args)...)
		if status != 0 {
			t.Errorf("weft %s: status %d: %s%s", args, status, out, stderr)
		}
		if strings.Contains(args, "ping") &&
			!strings.Contains(out, "over eth (another host, and raw Ethernet on eth0 (AF_PACKET))") {
			t.Errorf("weft %s: %s", args, out)
		}
	}
	if _, stderr, status := weftlab(t,
		built(t, "lab -faults lose=2 -- weft run -n 2 weft/examples/ping")...); status == 0 ||
		!strings.Contains(stderr, "from 0 to less than 1") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if _, _, status := weftlab(t, "lab", "--", "sh", "-c", "exit 7"); status != 7 {
		t.Errorf("status %d, want that of the command", status)
	}
	if out, _, _ := weftlab(t, "lab", "clean"); out != "" {
		t.Errorf("left behind: %s", out)
	}
}

// TestLabShares: at a switch whose ports have a rate and a short queue, ranks and a TCP
// connection get on with each other, and together no more than the rate.
func TestLabShares(t *testing.T) {
	needsLab(t)
	for _, transport := range explore.Choose([]string{"eth"}, []string{"eth", "udp"}) {
		const rate = 100 // Mbit/s
		out, stderr, status := weftlab(t, "lab", "-hosts", "4", "-rate", fmt.Sprint(rate), "-queue", "64", "--",
			"weftlab", "perf", "sharing", "-n", "4", "-size", "65536", "-for", "1s", "-transport", transport, "-json")
		var r perf.Sharing
		if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 {
			t.Fatalf("status %d: %v: %s%s", status, err, out, stderr)
		}
		if len(r.Ranks) != 3 || slices.Min(r.Ranks) == 0 || r.TCPAlone == 0 || r.Weft == 0 || r.TCP == 0 {
			t.Errorf("%s: some get nothing: %s", transport, out)
		}
		if most := 2 * rate / 8.; r.WeftAlone > most || r.TCPAlone > most || r.Weft+r.TCP > most {
			t.Errorf("%s: more than the rate: %s", transport, out)
		}
	}
	if _, stderr, status := weftlab(t, "lab", "-rate", "100", "--", "true"); status == 0 ||
		!strings.Contains(stderr, "joined directly") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestLabChooses: between hosts, auto is raw Ethernet, within one shared memory.
func TestLabChooses(t *testing.T) {
	needsLab(t)
	out, stderr, status := weftlab(t, "lab", "-hosts", "2", "--", "weft", "info", "-n", "4")
	if status != 0 || strings.Count(out, "raw Ethernet on eth0") != 8 ||
		strings.Count(out, "same host, so shared memory") != 4 {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

// TestLabClean: the hosts of a lab that was killed are removed by hand.
func TestLabClean(t *testing.T) {
	needsLab(t)
	netlabtest.Alone(t, "weftlab lab clean") // which removes all that has no maker
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "lab", "--", "sh", "-c", "echo ready; exec sleep 60")
	cmd.Env = append(os.Environ(), envCommand+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	hidden := exec.Command("unshare", "-m", "sh", "-c", `mount --bind /run/netns /run/netns && exec "$0" lab clean`, self)
	hidden.Env = append(os.Environ(), envCommand+"=1")
	text, err := hidden.CombinedOutput()
	if err == nil || !strings.Contains(string(text), "something is mounted over /run/netns") {
		t.Errorf("with a mount over /run/netns: %v: %s", err, text)
	}
	said, stderr, status := weftlab(t, "lab", "clean")
	if status != 0 || strings.Count(said, "removed weft-lab-") < 2 {
		t.Errorf("status %d: %s%s", status, said, stderr)
	}
	if again, _, _ := weftlab(t, "lab", "clean"); again != "" {
		t.Errorf("again: %s", again)
	}
}

// TestLabBesideNames: ip netns gives a name beside a lab, the first one after the machine has started, and the lab is
// removed all the same.
func TestLabBesideNames(t *testing.T) {
	needsLab(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const script = `mount -t tmpfs none /run && exec "$0" lab -- sh -c "ip netns add other && ip netns del other"`
	cmd := exec.Command("unshare", "-m", "sh", "-c", script, self)
	cmd.Env = append(os.Environ(), envCommand+"=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

// TestLabRecords: everything that crosses the network lies in a file.
func TestLabRecords(t *testing.T) {
	needsLab(t)
	name := filepath.Join(t.TempDir(), "job.pcap")
	const rounds = 50
	args := fmt.Sprintf("lab -pcap %s -- weft run -n 2 -transport eth weft/examples/ping -count %d", name, rounds)
	if _, stderr, status := weftlab(t, built(t, args)...); status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	ours := 0
	for at := 24; at < len(b); {
		n := int(binary.LittleEndian.Uint32(b[at+8:]))
		frame := b[at+16:][:n]
		if frame[12] == 0x88 && frame[13] == 0xb5 {
			ours++
		}
		at += 16 + n
	}
	if ours < 2*rounds {
		t.Errorf("%d frames for %d round trips", ours, rounds)
	}
}

// TestLabBreakdown: the breakdown names every part, and draws them.
func TestLabBreakdown(t *testing.T) {
	netlabtest.AtLength(t)
	needsLab(t)
	svg := filepath.Join(t.TempDir(), "breakdown.svg")
	out, stderr, status := weftlab(t, "lab", "--", "weftlab", "perf", "breakdown", "-rounds", "1", "-json", "-svg", svg)
	if status != 0 || strings.Count(out, `"way":`) != 3 || strings.Count(out, `"part":`) != 19 {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	if _, err := os.Stat(svg); err != nil {
		t.Error(err)
	}
	if _, stderr, status := weftlab(t, "perf", "breakdown"); status == 0 ||
		!strings.Contains(stderr, "weftlab lab -- weftlab perf breakdown") {
		t.Errorf("without a lab: status %d: %s", status, stderr)
	}
}
