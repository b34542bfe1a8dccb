package webtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"weft/internal/programtest"
)

// weftModule is where weft's own module lies.
const weftModule = "../../.."

// scratchDir is a directory that all tests share, and that TestMain removes.
var scratchDir string

// built has the programs that have been built, by package.
var built = map[string]string{}

func TestMain(m *testing.M) {
	code := m.Run()
	shared.close()
	os.RemoveAll(scratchDir)
	os.Exit(code)
}

func scratch(t *testing.T) string {
	t.Helper()
	if scratchDir == "" {
		var err error
		if scratchDir, err = os.MkdirTemp("", "webtest"); err != nil {
			t.Fatal(err)
		}
	}
	return scratchDir
}

// build builds a program of the module in a directory, once.
func build(t *testing.T, module, pkg string) string {
	t.Helper()
	if out := built[pkg]; out != "" {
		return out
	}
	built[pkg] = programtest.Make(t, scratch(t), pkg, "-C", module)
	return built[pkg]
}

// start starts a command until the test ends, and returns the address of the page that it
// prints.
func start(t *testing.T, command string, args ...string) string {
	t.Helper()
	cmd := exec.Command(command, args...)
	in, out := io.Pipe()
	cmd.Stdout = out
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
		out.Close()
	})
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/\w+/`)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if found := address.FindString(lines.Text()); found != "" {
			go func() { _, _ = io.Copy(io.Discard, in) }()
			return found
		}
		t.Log(lines.Text())
	}
	t.Fatal("no address was printed")
	return ""
}

// TestPageOfRunningJob: the page shows what a job of 2, and of 64 ranks has sent, and which
// rank waits for which.
func TestPageOfRunningJob(t *testing.T) {
	weft := build(t, weftModule, "./cmd/weft")
	job := build(t, ".", "./job")
	for _, n := range []int{2, 64} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := open(t, start(t, weft, "run", "-n", fmt.Sprint(n), "-http", "127.0.0.1:0", job, "-messages", "20", "-size",
				"512"))
			b.shows("#summary", map[int]string{2: "2 ranks, 40 messages, 20 KiB", 64: "64 ranks, 1,280 messages, 640 KiB"}[n])
			b.opensOnJob(n)
			b.press("2")
			b.shows("#pair", "rank 0 to rank 1")
			b.shows("#pair-messages", "20")
			b.shows("#pair-bytes", "10 KiB")
			b.shows("#pair-path", "shm")
			b.shows("#pair-why", "same host")
			b.keep(fmt.Sprintf("matrix-%d", n))
			b.press("3")
			b.shows("#stuck", "Deadlock: rank 0 waits for lock \"right\" held by 1, which waits for lock \"left\" held by 0")
			if red := value[int](b, `document.querySelectorAll("#graph line.stuck").length`); red < 2 {
				t.Errorf("%v edges are red", red)
			}
			b.keep(fmt.Sprintf("waits-%d", n))
			b.press("4")
			b.shows("#list", "barriermet")
			if n > 2 {
				b.shows("#list", "62 of 640, 1") // arrived, and the last to arrive
			}
			b.press(" ")
			b.shows("#stop", "Go on")
			at := value[int](b, "at")
			if err := b.holds(fmt.Sprintf("past.length > %d", at+2)); err != nil {
				t.Fatal(err)
			}
			if now := value[int](b, "at"); now != at {
				t.Errorf("the page that was stopped shows moment %v, then %v", at, now)
			}
		})
	}
}

// opensOnJob: the page of a job opens on what its reader asks first, under the name of the program: how fast it moves,
// and which rank is late.
func (b *browser) opensOnJob(n int) {
	b.t.Helper()
	if err := b.holds(`document.title === "job" && past.length > 1`); err != nil {
		b.t.Fatalf("the title is %q: %v", value[string](b, "document.title"), err)
	}
	b.shows("#messages-now", "at most")
	b.shows("#late", "waits")
	b.keep(fmt.Sprintf("job-%d", n))
}

// TestMatrixFits: the matrix of few ranks is small, that of 512 fits on the screen, and both have their ranks' numbers.
func TestMatrixFits(t *testing.T) {
	weft := build(t, weftModule, "./cmd/weft")
	job := build(t, ".", "./job")
	b := open(t, start(t, weft, "run", "-n", "4", "-http", "127.0.0.1:0", job))
	b.shows("#summary", "4 ranks, 40 messages")
	b.press("2")
	const inked = `document.getElementById("%s").getContext("2d").getImageData(0, 0, 900, 900).data.some(v => v)`
	for _, n := range []int{4, 64, 512} {
		value[bool](b, fmt.Sprintf(`(() => {
			stopped = true;
			const s = structuredClone(past[at]);
			delete s.table;
			s.Ranks = Array.from({length: %d}, () => s.Ranks[0]);
			past.push(s);
			at = past.length - 1;
			draw();
			return true;
		})()`, n))
		width := value[int](b, `document.getElementById("cells").width`)
		if width < n || width > 900 || n == 4 && width > 200 {
			t.Errorf("the matrix of %d ranks is %d wide", n, width)
		}
		for _, id := range []string{"across", "down"} {
			if !value[bool](b, fmt.Sprintf(inked, id)) {
				t.Errorf("%d ranks have no numbers %s", n, id)
			}
		}
		if over := value[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("the page of %d ranks is %d wider than the window", n, over)
		}
		b.keep(fmt.Sprintf("fits-%d", n))
	}
	b.usesItsWidth()
	b.namesLateRank()
}

// usesItsWidth: on a wide window the matrix opens on the pair that has exchanged most, and every view reaches from the
// left edge to the right one.
func (b *browser) usesItsWidth() {
	b.t.Helper()
	b.order("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": 1900, "height": 1000, "deviceScaleFactor": 1, "mobile": false,
	}, &struct{}{})
	value[bool](b, `(() => {
		const s = structuredClone(past.find(s => s.Ranks.length === 4 && s.Pairs?.length === 4));
		delete s.table;
		s.Pairs.find(p => p.From === 2).Bytes *= 3;
		past.push(s, s);
		at = past.length - 1;
		draw();
		return true;
	})()`)
	b.shows("#pair h2", "rank 2 to rank 3")
	for i, edge := range []string{"waiting", "side", "ranks", "list"} {
		view := fmt.Sprint(i + 1)
		b.press(view)
		at := value[[]int](b, fmt.Sprintf(`(e => [innerWidth, e.left, e.right])(
			document.getElementById(%q).getBoundingClientRect()).map(Math.round)`, edge))
		if at[0] != 1900 || at[2] < 1900-20 || at[2] > 1900 || at[1] > 1000 {
			b.t.Errorf("view %s: %s reaches from %d to %d of %d", view, edge, at[1], at[2], at[0])
		}
		b.keep("wide-" + view)
	}
	b.order("Emulation.clearDeviceMetricsOverride", struct{}{}, &struct{}{})
	b.press("2")
}

// namesLateRank: of ranks that wait for one that does not, the page names the one, and shows it over time; it names the
// pair that loses, the pair that is slow, and the rank that has died.
func (b *browser) namesLateRank() {
	b.t.Helper()
	b.press("1")
	value[bool](b, `(() => {
		const before = past.find(s => s.Ranks.length === 4 && s.Pairs?.length === 4);
		for (let i = 1; i < 6; i++) {
			const s = structuredClone(before);
			delete s.sums;
			s.Seconds = before.Seconds + i;
			s.Ranks.forEach((k, rank) => { k.Doing = ""; k.InWaits = i * (rank === 2 ? 1e7 : 9e8) });
			s.Pairs.forEach(p => { p.Messages += 1000 * i; p.Bytes += 4096 * i; p.Latency = p.From === 2 ? 30000 : 10000 });
			Object.assign(s.Pairs.find(p => p.From === 3), {Packets: 100, Resent: 5});
			s.Ranks[1].Ended = i === 5 ? "killed" : "";
			past.push(s);
		}
		past.splice(0, past.length - 5);
		at = 4;
		draw();
		return true;
	})()`)
	b.shows("#late", "Rank 2 is late: it waits 1 % of the time, the others 90 %")
	b.shows("#bytes-now", "16 KiB, at most 16 KiB")
	b.shows("#died", "rank 1 on")
	b.shows("#died", "has ended: killed")
	b.shows("#slow tbody tr:nth-child(1)", "3010 µs1.0 ×5.00 %")
	b.shows("#slow tbody tr:nth-child(2)", "2330 µs3.0 ×0.00 %")
	// A moment of rank 2 is lighter than one of rank 0, in the first column and in the last.
	lighter := value[bool](b, `(c => [60, c.width - 5].every(x => {
		const red = rank => c.getContext("2d").getImageData(x, Math.floor((rank + 0.5) * c.height / 4), 1, 1).data[0];
		return red(2) > red(0) + 100;
	}))(document.getElementById("waiting"))`)
	if !lighter {
		b.t.Error("it is not to be seen over time that rank 2 hardly waits")
	}
	b.keep("late")
}

// TestPageOfRecording: a thousand simulated ranks are shown in one matrix.
func TestPageOfRecording(t *testing.T) {
	weft := build(t, weftModule, "./cmd/weft")
	file := filepath.Join(t.TempDir(), "timeline")
	halo := build(t, weftModule, "./examples/halo")
	sim := exec.Command(weft, "sim", "-n", "1000", "-topology", "torus:25x40", "-timeline", file, halo, "-rows", "4000",
		"-steps", "1")
	if text, err := sim.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	b := open(t, start(t, weft, "view", file))
	b.shows("#summary", "1000 ranks, ")
	b.press("2")
	if width := value[int](b, `document.getElementById("cells").width`); width != 1000 {
		t.Errorf("the matrix is %v wide", width)
	}
	// A pixel of a pair that exchanges something, and of one that does not.
	pixel := `[...document.getElementById("cells").getContext("2d").getImageData(%d, %d, 1, 1).data].join()`
	near := value[string](b, fmt.Sprintf(pixel, 501, 500))
	far := value[string](b, fmt.Sprintf(pixel, 900, 500))
	if near == far {
		t.Errorf("both pixels are %v", near)
	}
	value[bool](b, `choose(500, 501); draw(); true`)
	b.shows("#pair", "rank 500 to rank 501")
	b.shows("#pair-hosts", "machine500, machine501")
	b.shows("#pair-latency", "s")
	b.keep("matrix-1000")
}
