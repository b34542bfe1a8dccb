// Hashtable counts words in a table that is distributed over all ranks: each rank keeps the words
// whose hash belongs to it, and serves the other ranks by active messages.
//
//	weft run -n 4 ./examples/hashtable
//	weft run -n 4 -transport udp ./examples/hashtable -words 500
package main

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"weft"
	"weft/am"
)

func main() {
	words := flag.Int("words", 5000, "different words")
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error { return count(ctx, p, os.Stdout, *words) })
}

// A table is this rank's part, and its way to the others'.
type table struct {
	e     *am.Endpoint
	mine  map[string]uint64
	value uint64 // that get has found
	found bool
}

// The handlers, by index.
const (
	add = iota
	get
	found
)

func open(ctx context.Context, p *weft.Proc) (*table, error) {
	t := &table{mine: map[string]uint64{}}
	var err error
	t.e, err = am.Open(ctx, p, 1, []am.Handler{
		add:   {Name: "add", Func: t.onAdd},
		get:   {Name: "get", Func: t.onGet},
		found: {Name: "found", Func: t.onFound},
	}, nil)
	return t, err
}

// onAdd runs where the word is kept. It sends no reply: am sends a null reply.
func (t *table) onAdd(c *am.Call) error {
	t.mine[string(c.Data)] += c.Words[0]
	return nil
}

// onGet runs where the word is kept, too.
func (t *table) onGet(c *am.Call) error { return c.Reply(found, t.mine[string(c.Data)]) }

// onFound runs where the word was asked for.
func (t *table) onFound(c *am.Call) error {
	t.value = c.Words[0]
	t.found = true
	return nil
}

// home returns the rank that keeps a word.
func (t *table) home(word string) int {
	h := fnv.New32a()
	h.Write([]byte(word))
	return int(h.Sum32() % uint32(t.e.Size()))
}

// add adds to a word's count. It does not wait until that has been done.
func (t *table) add(ctx context.Context, word string, n uint64) error {
	return t.e.RequestMedium(ctx, t.home(word), add, []byte(word), n)
}

// get returns a word's count.
func (t *table) get(ctx context.Context, word string) (uint64, error) {
	t.found = false
	if err := t.e.RequestMedium(ctx, t.home(word), get, []byte(word)); err != nil {
		return 0, err
	}
	err := t.e.Until(ctx, func() bool { return t.found })
	return t.value, err
}

func count(ctx context.Context, p *weft.Proc, out io.Writer, words int) error {
	t, err := open(ctx, p)
	if err != nil {
		return err
	}
	defer t.e.Close()
	for i := range words {
		if err := t.add(ctx, fmt.Sprintf("word %d", i), uint64(p.Rank()+1)); err != nil {
			return err
		}
	}
	if err := t.e.Barrier(ctx); err != nil { // all have been added
		return err
	}
	want := uint64(p.Size() * (p.Size() + 1) / 2)
	for i := p.Rank(); i < words; i += p.Size() {
		word := fmt.Sprintf("word %d", i)
		n, err := t.get(ctx, word)
		if err != nil {
			return err
		}
		if n != want {
			return fmt.Errorf("%q is counted %d times, not %d", word, n, want)
		}
	}
	if err := t.e.Barrier(ctx); err != nil { // all have been served
		return err
	}
	if p.Rank() == 0 {
		_, err = fmt.Fprintf(out, "%d ranks have counted %d words, each %d times\n", p.Size(), words, want)
	}
	return err
}
