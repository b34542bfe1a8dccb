package weft

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
)

// TestLocalTellsWhatIsLost: as with Main, messages that nobody has accepted are told on
// standard error when the ranks leave.
func TestLocalTellsWhatIsLost(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr = w
	sent := make(chan bool)
	err = Local(context.Background(), 2, func(ctx context.Context, p *Proc) error {
		if p.Rank() == 1 {
			<-sent
			return nil // it has opened no port
		}
		defer close(sent)
		port, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		return port.Send(ctx, 1, []byte("to nobody"))
	})
	os.Stderr = was
	w.Close()
	text, _ := io.ReadAll(r)
	if err != nil || !strings.Contains(string(text), "weft: rank 0: not delivered: 1 message on channel 1 to rank 1") {
		t.Errorf("%v, told %q", err, text)
	}
}
