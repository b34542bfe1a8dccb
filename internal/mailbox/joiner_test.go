package mailbox

import "testing"

// A message is returned when its last packet has come; the first packet of the next one ends
// a message that was given up, and packets that do not continue a message are dropped.
func TestJoiner(t *testing.T) {
	var j Joiner
	none := func() []byte { return nil }
	packet := func(from, off, total int, text string) string {
		rec := &Record{From: from, Off: off, Total: total, Last: off+len(text) == total}
		message, ok := j.Add(rec, []byte(text[:1]), []byte(text[1:]), none)
		if !ok {
			return ""
		}
		return string(message)
	}
	for i, step := range []struct {
		from, off, total int
		text, want       string
	}{
		{1, 0, 6, "abc", ""},
		{2, 0, 4, "AB", ""},
		{1, 3, 6, "def", "abcdef"},
		{2, 2, 4, "CD", "ABCD"},
		{1, 0, 6, "abc", ""}, // given up
		{1, 0, 4, "wx", ""},
		{1, 2, 4, "yz", "wxyz"},
		{1, 2, 4, "yz", ""}, // continues nothing
		{3, 2, 4, "yz", ""},
	} {
		if got := packet(step.from, step.off, step.total, step.text); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
}
