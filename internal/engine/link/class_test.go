package link

import (
	"fmt"
	"strings"
	"testing"

	"weft/internal/engine/wire"
)

// take takes at most so many packets from a queue, and returns their types.
func take(q *Queue, most int, long bool) (names []string) {
	for range most {
		head, payload, _, ok := q.Next(wire.MaxHead+2000, long)
		if !ok {
			break
		}
		names = append(names, wire.Type(head[0]).String())
		q.Sent(len(payload))
	}
	return names
}

// runs says in one line how many of a type follow each other.
func runs(names []string) string {
	var words []string
	for i := 0; i < len(names); {
		n := 1
		for i+n < len(names) && names[i+n] == names[i] {
			n++
		}
		word := names[i]
		if n > 1 {
			word = fmt.Sprintf("%s×%d", word, n)
		}
		words = append(words, word)
		i = i + n
	}
	return strings.Join(words, " ")
}

func order(q *Queue, long bool) string { return runs(take(q, 1000, long)) }

// add pushes a frame of each type that is named, with so many bytes of payload where it
// may have some.
func add(q *Queue, long int, names ...string) {
	for _, name := range names {
		head := q.Head()
		payload := []byte(nil)
		switch name {
		case "ACK":
			head = wire.Ack{}.Append(head)
		case "RESULT":
			head = wire.Result{}.Append(head)
		case "EVENT":
			head = wire.Event{Kind: wire.EventToken}.Append(head)
		case "DATA":
			f := wire.Data{Total: 8}
			head = f.Append(head)
			payload = make([]byte, 8)
		case "PUSH":
			head = wire.Push{End: true}.Append(head)
			payload = make([]byte, long)
		case "PIECE":
			head = wire.Piece{End: true}.Append(head)
			payload = make([]byte, long)
		case "PULLED":
			head = wire.Pulled{End: true}.Append(head)
			payload = make([]byte, long)
		case "BYE":
			q.PushLast(wire.Bye{}.Append(head), nil, false)
			continue
		}
		q.Push(head, payload, false)
	}
}

// Frames go ahead of those of a higher class, a packet at a time, and never of those of
// their own; none of them waits for good.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		waiting string
		long    int
		then    string // come when one packet has left
		want    string
	}{
		{"PIECE", 10000, "EVENT ACK DATA", "PIECE ACK EVENT DATA PIECE×4"},
		{"PULLED", 10000, "EVENT RESULT", "PULLED RESULT EVENT PULLED×4"},
		{"PULLED DATA", 1000, "", "PULLED DATA"},
		{"PUSH DATA EVENT", 6000, "ACK DATA", "PUSH ACK PUSH×2 DATA EVENT DATA"},
		{"PUSH PIECE", 6000, "DATA", "PUSH PIECE PUSH PIECE PUSH PIECE DATA"},
		{"PIECE", 4000, strings.Repeat("EVENT ", 20), "PIECE EVENT×8 PIECE EVENT×12"},
		{"PUSH", 4000, strings.Repeat("ACK ", 20), "PUSH ACK×8 PUSH ACK×12"},
		{"PIECE PUSH BYE", 4000, "ACK", "PUSH PIECE ACK PUSH PIECE BYE"},
		{"PIECE" + strings.Repeat(" EVENT", 20) + " BYE", 4000, "", "EVENT×8 PIECE EVENT×8 PIECE EVENT×4 BYE"},
	} {
		q := NewQueue(1, new(Active))
		add(q, c.long, strings.Fields(c.waiting)...)
		names := take(q, 1, true)
		add(q, c.long, strings.Fields(c.then)...)
		if got := runs(append(names, take(q, 1000, true)...)); got != c.want || q.Len() != 0 {
			t.Errorf("%s, and then %s: %s, want %s", c.waiting, c.then, got, c.want)
		}
	}
}

// Without room for long frames, short ones go, and when there is no room for bulk others do.
func TestRoomForShort(t *testing.T) {
	q := NewQueue(1, new(Active))
	add(q, 4000, "PUSH", "DATA", "PIECE", "ACK")
	if got := order(q, false); got != "ACK" {
		t.Errorf("without room for long frames: %s", got)
	}
	q.Clear()
	add(q, 4000, "PIECE")
	if q.Next(1<<16, true); q.Refused() || !q.Passable() {
		t.Error("nothing else waits")
	}
	add(q, 4000, "DATA", "BYE")
	if q.Next(1<<16, true); q.Passable() {
		t.Error("a message may be overtaken")
	}
	q.Retry()
	q.Next(1<<16, true)
	q.chosen = bulk
	if !q.Refused() {
		t.Error("a message waits")
	}
	if got := order(q, true); got != "DATA" {
		t.Errorf("without room for bulk: %s", got)
	}
	q.Retry()
	if got := order(q, true); got != "PIECE×2 BYE" {
		t.Errorf("with room again: %s", got)
	}
}
