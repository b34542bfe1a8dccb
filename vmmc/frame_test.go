package vmmc

import (
	"bytes"
	"testing"
)

// FuzzParse: whatever bytes come, a frame is refused, or is written as it was read.
func FuzzParse(f *testing.F) {
	var b [frameSize + maxName]byte
	f.Add((&frame{kind: importing, op: 1, name: []byte("in")}).put(&b))
	f.Add((&frame{notify: true, rank: 2, export: 3, off: 4, n: 5}).put(&b))
	f.Add(make([]byte, frameSize-1))
	f.Fuzz(func(t *testing.T, in []byte) {
		g, ok := parse(in)
		if !ok {
			return
		}
		var b [frameSize + maxName]byte
		again, ok := parse(g.put(&b))
		if !ok || !bytes.Equal(again.name, g.name) {
			t.Fatalf("%+v, %+v", g, again)
		}
		again.name = nil
		g.name = nil
		if again.kind != g.kind || again.status != g.status || again.notify != g.notify || again.rank != g.rank ||
			again.export != g.export || again.op != g.op || again.off != g.off || again.n != g.n {
			t.Fatalf("%+v, %+v", again, g)
		}
	})
}
