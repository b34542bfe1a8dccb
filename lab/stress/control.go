package stress

import (
	"encoding/json"
	"io"
	"net"
	"sync"
)

// A note is what ranks and director tell each other, a line of JSON each.
type note struct {
	Kind  string `json:"k"`
	Rank  int    `json:"r"`
	N     uint64 `json:"n,omitempty"`
	Text  string `json:"t,omitempty"`
	Ranks []int  `json:"rs,omitempty"`

	tell func(n note) // of a hello: by which the director answers
}

// Kinds of notes from a rank.
const (
	noteHello   = "hello"   // N is the process
	noteBeat    = "beat"    // N counts what its goroutines have got done
	noteMeet    = "meet"    // it has come to the place Text of a scene of Ranks
	noteFound   = "found"   // a check has failed
	noteError   = "error"   // an operation has failed; Ranks are the ranks that caused it, if known
	noteDone    = "done"    // with round N
	noteState   = "state"   // what its goroutines do, as asked for
	noteTimes   = "times"   // of the phases of a barrier
	noteWords   = "words"   // Text is what was done to the words of scene N by atomic operations, as JSON
	noteMatches = "matches" // Text is what a member of scene N has sent and received, as JSON
	noteBye     = "bye"     // it leaves
	noteLost    = "lost"    // made by the stage: the connection has ended
)

// Kinds of notes to a rank.
const (
	noteRound = "round" // begin round N, of Ranks
	noteMet   = "met"   // all have come to the place Text
	noteLeft  = "left"  // Rank has left in good order
	noteLeave = "leave" // leave in the way Text
	noteDump  = "dump"  // tell what the goroutines do
	notePoke  = "poke"  // make a call that looks for packets
	noteEnd   = "end"   // the job ends
)

// newChannels says that a round has channels that none has had before.
const newChannels = "new channels"

// A line is a connection between a rank and the director.
type line struct {
	conn net.Conn
	mu   sync.Mutex
	enc  *json.Encoder
	dec  *json.Decoder
}

func newLine(c net.Conn) *line {
	return &line{conn: c, enc: json.NewEncoder(c), dec: json.NewDecoder(c)}
}

// tell sends a note. That the other side is gone is found out by listen.
func (l *line) tell(n note) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.enc.Encode(n)
}

// listen calls f with every note that comes, until the connection ends.
func (l *line) listen(f func(n note)) error {
	for {
		var n note
		if err := l.dec.Decode(&n); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		f(n)
	}
}
