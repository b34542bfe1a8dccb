package traceevent

import (
	"bufio"
	"encoding/json"
	"strconv"
)

// A phase is what the format calls the kind of an event, with the fields that each event of it has.
type phase string

const (
	metadata     phase = `M"`
	begin        phase = `B"`
	end          phase = `E"`
	trackMoment  phase = `i","s":"t"`
	processWide  phase = `i","s":"p"`
	messageStart phase = `s","cat":"message","name":"message"`
	messageEnd   phase = `f","cat":"message","name":"message","bp":"e"` // it belongs to what is open
)

// The beginning and the end of a file.
const (
	head = `{"displayTimeUnit":"ns","traceEvents":[`
	tail = "\n]}\n"
)

// A writer writes events, one a line: event begins one, and done writes it. out keeps the first
// error, and its Flush returns it.
type writer struct {
	out       *bufio.Writer
	separator string
	line      []byte // the event that is being made
}

// event begins an event of a track of a process. The format counts microseconds; three digits
// after the point keep every nanosecond.
func (w *writer) event(p phase, process, track int, at int64) {
	b := append(w.line[:0], w.separator...)
	w.separator = ","
	b = append(b, "\n{\"ph\":\""...)
	b = append(b, p...)
	b = append(b, `,"pid":`...)
	b = strconv.AppendInt(b, int64(process), 10)
	b = append(b, `,"tid":`...)
	b = strconv.AppendInt(b, int64(track), 10)
	b = append(b, `,"ts":`...)
	b = strconv.AppendInt(b, at/1000, 10)
	ns := at % 1000
	w.line = append(b, '.', byte('0'+ns/100), byte('0'+ns/10%10), byte('0'+ns%10))
}

// name gives a name to the event that is being made.
func (w *writer) name(name string) {
	w.line = append(w.line, `,"name":`...)
	w.quote(name)
}

// category says to which of the groups an event belongs that the viewer can show or hide.
func (w *writer) category(c string) {
	w.line = append(w.line, `,"cat":"`...)
	w.line = append(w.line, c...)
	w.line = append(w.line, '"')
}

// message says which message an arrow stands for: as a text, since a number of JavaScript has 53 bits.
func (w *writer) message(id uint64) {
	w.line = append(w.line, `,"id":"0x`...)
	w.line = strconv.AppendUint(w.line, id, 16)
	w.line = append(w.line, '"')
}

// number adds an argument to the event that is being made.
func (w *writer) number(key string, v int64) {
	w.argument(key)
	w.line = strconv.AppendInt(w.line, v, 10)
	w.line = append(w.line, ',')
}

// text adds an argument that is a text.
func (w *writer) text(key, text string) {
	w.argument(key)
	w.quote(text)
	w.line = append(w.line, ',')
}

// argument begins an argument. They come last, and each ends with a comma: an event whose line
// does not end so has none yet.
func (w *writer) argument(key string) {
	if w.line[len(w.line)-1] != ',' {
		w.line = append(w.line, `,"args":{`...)
	}
	w.line = append(w.line, '"')
	w.line = append(w.line, key...)
	w.line = append(w.line, `":`...)
}

// quote appends a text as JSON.
func (w *writer) quote(text string) {
	quoted, _ := json.Marshal(text) // it cannot fail for a string
	w.line = append(w.line, quoted...)
}

// done writes the event.
func (w *writer) done() {
	if last := len(w.line) - 1; w.line[last] == ',' {
		w.line[last] = '}' // of the arguments
	}
	w.line = append(w.line, '}')
	_, _ = w.out.Write(w.line)
}
