package webtest

import (
	"fmt"
	"slices"
	"testing"
)

// faint returns the texts on the page, and the borders of its controls and of the chosen cell, whose contrast with
// what is behind them is below what WCAG 2.1 asks for: 4.5 for text, 3 for what is drawn.
const faint = `(() => {
  const parse = c => (c.match(/[\d.]+/g) || []).map(Number);
  const light = c => {
    const [r, g, b] = parse(c).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor, p = parse(c);
      if (p.length === 3 || p[3] === 1) return c;
    }
    return "rgb(255, 255, 255)";
  };
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || /SCRIPT|STYLE/.test(e.tagName)) continue;
    const css = getComputedStyle(e), fore = e.namespaceURI.endsWith("svg") ? css.fill : css.color;
    const c = contrast(fore, behind(e));
    if (c < 4.5) bad.push(e.tagName + "#" + e.id + " " + e.textContent.slice(0, 20) + ": " + c.toFixed(2));
  }
  for (const e of document.querySelectorAll("td.bar div, #graph line, #graph circle")) {
    if (!e.getClientRects().length) continue;
    const css = getComputedStyle(e), fore = e.tagName === "DIV" ? css.backgroundColor : css.stroke;
    const c = contrast(fore, behind(e.parentElement));
    if (c < 3) bad.push(e.tagName + ": " + c.toFixed(2));
  }
  return bad;
})()`

// TestColours: the page follows the system's colour scheme at once, without being loaded again; in both schemes all
// texts of all views can be read, and the matrix is drawn on the background of the page.
func TestColours(t *testing.T) {
	weft := build(t, weftModule, "./cmd/weft")
	job := build(t, ".", "./job")
	b := open(t, start(t, weft, "run", "-n", "4", "-transport", "udp", "-http", "127.0.0.1:0", job))
	b.shows("#summary", "4 ranks, 40 messages")
	b.press("2")
	b.shows("#pair", "rank 0 to rank 1")
	const back = `getComputedStyle(document.body).backgroundColor`
	const cell = `(w => "rgb(" + [...document.getElementById("cells").getContext("2d")
		.getImageData(3 * w + 4, 2 * w + 4, 1, 1).data].slice(0, 3).join(", ") + ")")
		(document.getElementById("cells").width / 4)` // from rank 2 to rank 3: the most
	colours := map[string][2]string{
		"light": {"rgb(255, 255, 255)", "rgb(10, 70, 150)"}, "dark": {"rgb(20, 23, 26)", "rgb(108, 176, 255)"},
	}
	for _, scheme := range []string{"light", "dark", "light"} {
		b.scheme(scheme)
		for i, element := range []string{back, cell} {
			if err := b.holds(fmt.Sprintf("%s === %q", element, colours[scheme][i])); err != nil {
				t.Fatalf("%s: the background and the cell are %s and %s: %v", scheme, value[string](b, back),
					value[string](b, cell), err)
			}
		}
		for _, view := range []string{"1", "2", "3", "4"} {
			b.press(view)
			if bad := value[[]string](b, faint); len(bad) > 0 {
				t.Errorf("%s, view %s: too faint: %q", scheme, view, bad)
			}
		}
		b.press("2")
		b.keep("matrix-" + scheme)
	}
}

// TestKeyboard: all that the page offers can be done without a mouse.
func TestKeyboard(t *testing.T) {
	weft := build(t, weftModule, "./cmd/weft")
	job := build(t, ".", "./job")
	b := open(t, start(t, weft, "run", "-n", "4", "-http", "127.0.0.1:0", job))
	b.shows("#summary", "4 ranks, 40 messages")
	b.press("2")
	b.shows("#pair h2", "rank 0 to rank 1") // the busiest, or the first of them

	const focus = `document.activeElement?.id`
	var reached []string
	for range 8 {
		b.press("Tab")
		reached = append(reached, value[string](b, focus))
		if value[string](b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
			t.Errorf("%s is not marked when it has the focus", reached[len(reached)-1])
		}
	}
	want := []string{"tab-job", "tab-matrix", "tab-waits", "tab-things", "stop", "scroll", "measure", "cells"}
	if !slices.Equal(reached, want) {
		t.Errorf("Tab reaches %q, not %q", reached, want)
	}

	b.press("ArrowLeft", "ArrowLeft", "ArrowUp") // over the edges
	b.shows("#pair h2", "rank 3 to rank 3")
	b.press("ArrowRight", "ArrowDown", "ArrowRight")
	b.shows("#pair h2", "rank 0 to rank 1")

	for _, measure := range []string{"Messages", "rate", "Latency", "loss", "Bytes"} {
		b.press("m")
		if is := value[string](b, `document.getElementById("measure").value`); is != measure {
			t.Errorf("M shows %s, not %s", is, measure)
		}
	}
	for key, view := range map[string]string{"1": "job", "2": "matrix", "3": "waits", "4": "things"} {
		b.press(key)
		shown := value[[]string](b, `[...document.querySelectorAll("main > section:not([hidden])")].map(e => e.id)`)
		selected := value[[]string](b, `[...document.querySelectorAll("[aria-selected=true]")].map(e => e.id)`)
		if !slices.Equal(shown, []string{view}) || !slices.Equal(selected, []string{"tab-" + view}) {
			t.Errorf("%s shows %q and marks %q", key, shown, selected)
		}
	}
	value[bool](b, `document.getElementById("tab-waits").focus(), true`)
	b.press("Enter")
	b.shows("#ranks", "waits for")

	if err := b.holds("past.length > 2"); err != nil {
		t.Fatal(err)
	}
	b.press("[")
	b.shows("#stop", "Go on")
	at := value[int](b, "at")
	b.press("[")
	if now := value[int](b, "at"); now != at-1 {
		t.Errorf("[ goes from moment %d to %d", at, now)
	}
	b.press("]")
	if now := value[int](b, "at"); now != at {
		t.Errorf("] goes back to moment %d, not %d", now, at)
	}
	value[bool](b, `document.getElementById("cells").ownerDocument.activeElement.blur(), true`)
	b.press(" ")
	b.shows("#stop", "Stop")
}
