package webtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"weft/internal/waittest"
)

// weftModule is where weft's own module lies.
const weftModule = "../../.."

// built has the programs that have been built, by package, in a directory that TestMain removes.
var built struct {
	sync.Mutex
	dir string
	of  map[string]string
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(built.dir)
	os.Exit(code)
}

// build builds a program of the module in a directory, once.
func build(t *testing.T, module, pkg string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if out := built.of[pkg]; out != "" {
		return out
	}
	if built.of == nil {
		built.of = map[string]string{}
		var err error
		if built.dir, err = os.MkdirTemp("", "webtest"); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(built.dir, filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Dir = module
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	built.of[pkg] = out
	return out
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

// A browser looks at one page.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// open opens a page in a browser of its own.
func open(t *testing.T, address string) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WindowSize(1200, 1100),
		chromedp.WSURLReadTimeout(2*time.Minute))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t, ctx}
	b.do(chromedp.Navigate(address))
	return b
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// holds waits until an expression is true in the page.
func (b *browser) holds(expression string) error {
	_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(time.Minute)))
	return err
}

// shows waits until an element has a text in it.
func (b *browser) shows(element, text string) {
	b.t.Helper()
	if err := b.holds(fmt.Sprintf("document.querySelector(%q)?.textContent.includes(%q)", element, text)); err != nil {
		is, _ := chromedp.Run(b.ctx,
			chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q)?.textContent ?? ''", element)))
		b.t.Fatalf("%s does not show %q but %q: %v", element, text, is, err)
	}
}

// keep keeps a picture of the page.
func (b *browser) keep(name string) {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// value evaluates an expression in the page.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
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
			b.do(chromedp.KeyEvent("2"))
			b.shows("#pair", "rank 0 to rank 1")
			b.shows("#pair-messages", "20")
			b.shows("#pair-bytes", "10 KiB")
			b.shows("#pair-path", "shm")
			b.shows("#pair-why", "same host")
			b.keep(fmt.Sprintf("matrix-%d", n))
			b.do(chromedp.KeyEvent("3"))
			b.shows("#stuck", "Deadlock: rank 0 waits for lock \"right\" held by 1, which waits for lock \"left\" held by 0")
			if red := value[int](b, `document.querySelectorAll("#graph line.stuck").length`); red < 2 {
				t.Errorf("%v edges are red", red)
			}
			b.keep(fmt.Sprintf("waits-%d", n))
			b.do(chromedp.KeyEvent("4"))
			b.shows("#list", "barriermet")
			if n > 2 {
				b.shows("#list", "62 of 640, 1") // arrived, and the last to arrive
			}
			b.do(chromedp.KeyEvent(" "))
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
	b.do(chromedp.KeyEvent("2"))
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
	b.namesLateRank()
}

// namesLateRank: of ranks that wait for one that does not, the page names the one, and the rank that has died.
func (b *browser) namesLateRank() {
	b.t.Helper()
	b.do(chromedp.KeyEvent("1"))
	value[bool](b, `(() => {
		const before = past.find(s => s.Ranks.length === 4 && s.Pairs?.length === 4);
		for (let i = 1; i < 6; i++) {
			const s = structuredClone(before);
			delete s.sums;
			s.Seconds = before.Seconds + i;
			s.Ranks.forEach((k, rank) => { k.Doing = ""; k.InWaits = i * (rank === 2 ? 1e7 : 9e8) });
			s.Pairs.forEach(p => { p.Messages += 1000 * i; p.Bytes += 4096 * i });
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
	b.do(chromedp.KeyEvent("2"))
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
	value[bool](b, `cell = {from: 500, to: 501}; draw(); true`)
	b.shows("#pair", "rank 500 to rank 501")
	b.shows("#pair-hosts", "machine500, machine501")
	b.shows("#pair-latency", "s")
	b.keep("matrix-1000")
}
