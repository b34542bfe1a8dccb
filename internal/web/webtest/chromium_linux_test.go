package webtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"weft/internal/waittest"
)

// A chromium is a browser without windows, which does what it is told in DevTools' protocol: messages of JSON over two
// pipes, each ended by a zero byte. All tests share one, since its start is most of what a page costs.
type chromium struct {
	orders  io.WriteCloser
	answers *bufio.Reader
	last    int // the number of the last order
	process *exec.Cmd
}

var shared *chromium

// theChromium returns the browser of all tests, or skips the test where there is none.
func theChromium(t *testing.T) *chromium {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	if shared == nil {
		if shared, err = startChromium(path, scratch(t)); err != nil {
			t.Fatal(err)
		}
	}
	return shared
}

func startChromium(path, dir string) (*chromium, error) {
	ordersOut, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, answersIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	args := []string{"--headless", "--remote-debugging-pipe", "--window-size=1200,1100", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-extensions", "--disable-dev-shm-usage", "--mute-audio",
		"--user-data-dir=" + filepath.Join(dir, "chromium")}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.Command(path, args...)
	cmd.ExtraFiles = []*os.File{ordersOut, answersIn} // descriptors 3 and 4, as the flag asks
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ordersOut.Close()
	answersIn.Close()
	return &chromium{orders: orders, answers: bufio.NewReader(answers), process: cmd}, nil
}

// close ends the browser, which ends when nobody can order anything.
func (c *chromium) close() {
	if c != nil {
		c.orders.Close()
		_ = c.process.Wait()
	}
}

// order has the browser, or one of its pages, carry out a method, and returns what it answers.
func (c *chromium) order(page, method string, params, answer any) error {
	c.last++
	text, err := json.Marshal(struct {
		ID        int    `json:"id"`
		SessionID string `json:"sessionId,omitempty"`
		Method    string `json:"method"`
		Params    any    `json:"params"`
	}{c.last, page, method, params})
	if err != nil {
		return err
	}
	if _, err := c.orders.Write(append(text, 0)); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		text, err := c.answers.ReadBytes(0)
		if err != nil {
			return fmt.Errorf("%s: chromium has ended: %w", method, err)
		}
		var is struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text[:len(text)-1], &is); err != nil {
			return err
		}
		switch {
		case is.ID != c.last: // an event
		case is.Error != nil:
			return fmt.Errorf("%s: %s", method, is.Error.Message)
		default:
			return json.Unmarshal(is.Result, answer)
		}
	}
}

// A browser looks at one page.
type browser struct {
	t    *testing.T
	of   *chromium
	page string
}

// open opens a page of its own, which is closed when the test ends.
func open(t *testing.T, address string) *browser {
	t.Helper()
	b := &browser{t: t, of: theChromium(t)}
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
	hangs := context.AfterFunc(ctx, func() { _ = b.of.process.Process.Kill() })
	t.Cleanup(func() {
		hangs()
		cancel()
	})
	var target struct{ TargetID, SessionID string }
	b.order("Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true, "width": 1200, "height": 1100}, &target)
	b.order("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	t.Cleanup(func() {
		_ = b.of.order("", "Target.closeTarget", map[string]any{"targetId": target.TargetID}, &struct{}{})
	})
	b.page = target.SessionID
	var moved struct{ ErrorText string }
	b.order("Page.navigate", map[string]any{"url": address}, &moved)
	if moved.ErrorText != "" {
		t.Fatalf("%s: %s", address, moved.ErrorText)
	}
	if err := b.holds(`document.readyState === "complete"`); err != nil {
		t.Fatal(err)
	}
	return b
}

// order has the page carry out a method, which must succeed.
func (b *browser) order(method string, params, answer any) {
	b.t.Helper()
	if err := b.of.order(b.page, method, params, answer); err != nil {
		b.t.Fatal(err)
	}
}

// evaluate evaluates an expression in the page, and waits if it is a promise.
func (b *browser) evaluate(expression string, value any) error {
	var is struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	err := b.of.order(b.page, "Runtime.evaluate",
		map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &is)
	switch {
	case err != nil:
		return err
	case is.ExceptionDetails != nil:
		return errors.New(is.ExceptionDetails.Exception.Description)
	}
	return json.Unmarshal(is.Result.Value, value)
}

// value evaluates an expression in the page.
func value[T any](b *browser, expression string) (v T) {
	b.t.Helper()
	if err := b.evaluate(expression, &v); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// holds waits until an expression is true in the page, for a minute at most.
func (b *browser) holds(expression string) error {
	var is bool
	return b.evaluate(fmt.Sprintf(`new Promise((yes, no) => {
		const end = performance.now() + 60000;
		const look = () => {
			if (%s) yes(true);
			else if (performance.now() > end) no(new Error("this does not become true"));
			else setTimeout(look, 20);
		};
		look();
	})`, expression), &is)
}

// shows waits until an element has a text in it.
func (b *browser) shows(element, text string) {
	b.t.Helper()
	if err := b.holds(fmt.Sprintf("document.querySelector(%q)?.textContent.includes(%q)", element, text)); err != nil {
		is := value[string](b, fmt.Sprintf("document.querySelector(%q)?.textContent ?? ''", element))
		b.t.Fatalf("%s does not show %q but %q: %v", element, text, is, err)
	}
}

// keys are the keys that tests press, by what a page calls them: the number that identifies each to the browser.
var keys = map[string]int{
	"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
	"1": '1', "2": '2', "3": '3', "4": '4', "m": 'M', "[": 219, "]": 221,
}

// press presses keys, one after the other.
func (b *browser) press(names ...string) {
	b.t.Helper()
	for _, name := range names {
		number, ok := keys[name]
		if !ok {
			b.t.Fatalf("there is no key %q", name)
		}
		text := name
		if name == "Enter" {
			text = "\r"
		} else if len(name) > 1 {
			text = ""
		}
		for _, kind := range []string{"keyDown", "keyUp"} {
			b.order("Input.dispatchKeyEvent", map[string]any{
				"type": kind, "key": name, "text": text, "windowsVirtualKeyCode": number,
			}, &struct{}{})
			text = "" // what is released types nothing
		}
	}
}

// scheme makes the browser prefer a colour scheme, as the system's setting does.
func (b *browser) scheme(name string) {
	b.t.Helper()
	feature := map[string]string{"name": "prefers-color-scheme", "value": name}
	b.order("Emulation.setEmulatedMedia", map[string]any{"features": []any{feature}}, &struct{}{})
}

// keep keeps a picture of the page.
func (b *browser) keep(name string) {
	b.t.Helper()
	var picture struct{ Data []byte }
	b.order("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &picture)
	if err := os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), picture.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
