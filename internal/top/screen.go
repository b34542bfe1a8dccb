package top

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
)

// A Terminal shows samples as they are taken, until the user has enough.
type Terminal struct {
	Screen   tcell.Screen // initialized; its owner ends it
	Interval time.Duration
	View     View
	Take     func() (*Sample, error)

	sample *Sample
	failed error
	table  int // which one is shown
	first  int // row
	typing bool
}

const keys = "q quit   ←→ sort   r reverse   / filter   tab next table   ↑↓ scroll"

// Run returns when the user quits, or ctx ends.
func (t *Terminal) Run(ctx context.Context) {
	events := make(chan tcell.Event, 16)
	quit := make(chan struct{})
	defer close(quit)
	go t.Screen.ChannelEvents(events, quit)
	ticker := time.NewTicker(t.Interval)
	defer ticker.Stop()
	t.update()
	for {
		t.draw()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			t.update()
		case e, ok := <-events:
			if !ok || t.handle(e) {
				return
			}
		}
	}
}

// update takes a sample.
func (t *Terminal) update() {
	s, err := t.Take()
	s.Since(t.sample)
	t.sample = s
	t.failed = err
}

// handle does what a key is for, and reports whether it is to quit.
func (t *Terminal) handle(e tcell.Event) (quit bool) {
	switch e := e.(type) {
	case *tcell.EventResize:
		t.Screen.Sync()
	case *tcell.EventKey:
		if t.typing {
			t.typed(e)
			return false
		}
		return t.press(e)
	}
	return false
}

// typed changes the filter.
func (t *Terminal) typed(e *tcell.EventKey) {
	f := []rune(t.View.Filter)
	switch e.Key() {
	case tcell.KeyEnter:
		t.typing = false
	case tcell.KeyEscape:
		t.typing = false
		f = nil
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		f = f[:max(len(f)-1, 0)]
	case tcell.KeyRune:
		f = append(f, e.Rune())
	}
	t.View.Filter = string(f)
	t.first = 0
}

func (t *Terminal) press(e *tcell.EventKey) (quit bool) {
	switch e.Key() {
	case tcell.KeyCtrlC, tcell.KeyEscape:
		return true
	case tcell.KeyTab:
		t.table++
		t.first = 0
	case tcell.KeyLeft:
		t.sort(-1)
	case tcell.KeyRight:
		t.sort(1)
	case tcell.KeyUp:
		t.first--
	case tcell.KeyDown:
		t.first++
	case tcell.KeyPgUp:
		t.first -= 10
	case tcell.KeyPgDn:
		t.first += 10
	case tcell.KeyRune:
		switch e.Rune() {
		case 'q':
			return true
		case 'r':
			t.View.Reverse = !t.View.Reverse
		case '/':
			t.typing = true
		}
	}
	return false
}

// sort sorts by the next column, or the one before.
func (t *Terminal) sort(step int) {
	tables := t.sample.Tables(t.View, 0)
	if len(tables) == 0 {
		return
	}
	names := tables[t.table%len(tables)].Columns
	at := max(slices.Index(names, t.View.Sort), 0)
	t.View.Sort = names[(at+step+len(names))%len(names)]
}

// draw shows a table.
func (t *Terminal) draw() {
	t.Screen.Clear()
	defer t.Screen.Show()
	width, height := t.Screen.Size()
	bold := tcell.StyleDefault.Bold(true)
	status := keys
	switch {
	case t.typing:
		status = "filter: " + t.View.Filter + "█"
	case t.failed != nil:
		status = "not all could be read: " + strings.ReplaceAll(t.failed.Error(), "\n", "; ")
	case t.View.Filter != "":
		status = fmt.Sprintf("%s   (filter: %s)", keys, t.View.Filter)
	}
	t.text(0, height-1, width, status, tcell.StyleDefault.Dim(true))
	tables := t.sample.Tables(t.View, 5)
	if len(tables) == 0 {
		t.text(0, 0, width, Nothing, bold)
		return
	}
	t.table %= len(tables)
	table := &tables[t.table]
	t.text(0, 0, width, fmt.Sprintf("%d of %d, %s", t.table+1, len(tables), table.Title), bold)

	lines := table.Lines
	rows := table.Rows
	room := max(height-3-min(len(lines), height/3), 1) // for ranks
	t.first = max(min(t.first, len(rows)-room), 0)
	widths := t.head(table, width)
	shown := rows[t.first:min(t.first+room, len(rows))]
	for i, row := range shown {
		style := tcell.StyleDefault
		if row.Bad {
			style = style.Foreground(tcell.ColorRed)
		}
		t.row(2+i, width, widths, row.Cells, style)
	}
	for i, line := range lines {
		style := tcell.StyleDefault
		if strings.HasPrefix(line, "DEADLOCK") {
			style = style.Foreground(tcell.ColorRed).Bold(true)
		}
		if y := 2 + len(shown) + i; y < height-1 {
			t.text(0, y, width, line, style)
		}
	}
}

// head shows the names of the columns, and returns how wide each is.
func (t *Terminal) head(table *Table, width int) (widths []int) {
	names := table.Columns
	for i, name := range names {
		w := len(name)
		for _, row := range table.Rows {
			w = max(w, len([]rune(row.Cells[i])))
		}
		widths = append(widths, w)
	}
	x := 0
	for i, name := range names {
		style := tcell.StyleDefault.Reverse(true)
		if name == t.View.Sort || t.View.Sort == "" && i == 0 {
			style = style.Bold(true).Underline(true)
		}
		t.text(x, 1, width, fmt.Sprintf("%-*s  ", widths[i], name), style)
		x += widths[i] + 2
	}
	return widths
}

func (t *Terminal) row(y, width int, widths []int, cells []string, style tcell.Style) {
	x := 0
	for i, cell := range cells {
		t.text(x, y, width, cell, style)
		x += widths[i] + 2
	}
}

// text writes a text, as far as there is room.
func (t *Terminal) text(x, y, width int, s string, style tcell.Style) {
	for _, r := range s {
		if x >= width {
			return
		}
		t.Screen.SetContent(x, y, r, nil, style)
		x++
	}
}
