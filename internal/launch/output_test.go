package launch

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestLongLines: a line of up to a mebibyte stays whole, whatever other ranks write meanwhile. Of a longer one each
// piece says whose it is and that it goes on, so that none is mixed with another rank's line.
func TestLongLines(t *testing.T) {
	const ranks = 4
	for _, size := range []int{100, longestLine - 1, longestLine + 1<<16, 3*longestLine + 7} {
		var out bytes.Buffer
		l := &lines{to: &out}
		var wg sync.WaitGroup
		for rank := range ranks {
			line := strings.Repeat(string(rune('a'+rank)), size)
			wg.Go(func() {
				l.copy(strings.NewReader(line+"\n"+line+"\nend"), fmt.Sprintf("[%d] ", rank), nil, nil)
			})
		}
		wg.Wait()
		var got [ranks]int
		pieces := 0
		for line := range strings.Lines(out.String()) {
			var rank int
			if _, err := fmt.Sscanf(line, "[%d] ", &rank); err != nil {
				t.Fatalf("%d bytes: a line of nobody: %.80q", size, line)
			}
			text := strings.TrimPrefix(line[4:], onward)
			text, more := strings.CutSuffix(text, goesOn)
			text = strings.TrimSuffix(text, "\n")
			if more || strings.HasPrefix(line[4:], onward) {
				pieces++
			}
			if text == "end" {
				continue
			}
			if n := strings.Count(text, string(rune('a'+rank))); n != len(text) {
				t.Fatalf("%d bytes: a line of rank %d has %d bytes of others", size, rank, len(text)-n)
			}
			got[rank] += len(text)
		}
		if got != [ranks]int{2 * size, 2 * size, 2 * size, 2 * size} || pieces > 0 && size < longestLine {
			t.Errorf("%d bytes: %v have come, in %d pieces", size, got, pieces)
		}
	}
}
