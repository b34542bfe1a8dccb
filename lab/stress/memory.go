package stress

import (
	"bytes"
	"context"
	"fmt"

	"weft"
)

// Words of a region of a memory scene, in bytes; then comes a block for each writer.
const (
	wordSum    = 0  // FetchAdd adds to it
	wordCAS    = 8  // CompareSwap counts in it
	wordsTotal = 64 // what each writer has added, one word each, with final set at last
	wordsDone  = 64 + 8*maxWriters
	blocks     = 64 + 16*maxWriters
	blockSize  = 6000
	maxWriters = 64
	final      = 1 << 63
)

// memory: members expose regions, and all read and write those of all, by every
// operation. What a writer has written into its own block it reads back, and atomic
// operations add up.
func memory(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	writers := 1 + s.shared.IntN(2)
	if len(s.members)*writers > maxWriters {
		s.members = s.members[:maxWriters/writers]
	}
	name := "memory " + s.name
	var region *weft.Region
	size := blocks + len(s.members)*writers*blockSize
	ok := a.call("Window", func() (err error) {
		region, err = a.p.OpenRegion(a.ctx, name, size, nil)
		return err
	}) == fine
	group := crew{p: a.p}
	ctx, cancel := context.WithCancel(a.ctx)
	if ok {
		for i := range writers {
			s.act2(&group, fmt.Sprintf("writer %d", i), func(a *actor) { write(a, s, region, i, writers) })
		}
		for i, m := range s.members {
			s.act2(&s.group, fmt.Sprintf("watcher of %d", m), func(a *actor) { watch(a, ctx, region, wordsDone+8*i*writers, m) })
		}
	}
	a.do("wait for the own writers", func() error { group.Wait(); return nil })
	a.meet(s, "all is written")
	if ok && !a.quit {
		addUp(a, s, region, writers)
	}
	cancel()
	a.do("wait for the own watchers", func() error { s.group.Wait(); return nil })
	if ok {
		a.call("Region.Close", region.Close)
	}
}

// watch waits for a writer's last word, or until the scene ends.
func watch(a *actor, ctx context.Context, region *weft.Region, off, of int) {
	for v := uint64(0); v != final; {
		ends := ctx
		cancel := context.CancelFunc(func() {})
		if a.rng.IntN(3) == 0 {
			ends, cancel = a.brief(ctx)
		}
		err := a.do(fmt.Sprintf("Await of the word of %d", of), func() (err error) {
			w, err := region.Await(ends, off, v)
			if err == nil {
				if w == v {
					a.found("%s: Await returned %d, which it was before", a.name, w)
				}
				v = w
			}
			return err
		})
		cancel()
		if ctx.Err() != nil {
			if last := region.Load(off); err == nil && last < v && !a.leaving.Load() {
				a.found("%s: the word went back from %d to %d", a.name, v, last)
			}
			return
		}
		if v := a.judge("Region.Await", err, true); v != fine && v != later {
			return
		}
	}
}

// write does everything to the regions of all members.
func write(a *actor, s *scene, region *weft.Region, number, writers int) {
	me := 0
	for i, m := range s.members {
		if m == a.p.Rank() {
			me = i*writers + number
		}
	}
	for _, to := range s.members {
		var far *weft.Remote
		if a.call(fmt.Sprintf("At(%d)", to), func() (err error) { far, err = region.At(a.ctx, to); return err }) != fine {
			continue
		}
		w := &writer{actor: a, far: far, to: to, me: me, block: make([]byte, blockSize)}
		for range s.scaled(5 + a.rng.IntN(60)) {
			if !w.step() {
				break
			}
		}
		if !a.quit && w.wait() {
			w.finish(writers)
		}
	}
}

// A writer is one goroutine that writes to one region.
type writer struct {
	*actor
	far   *weft.Remote
	to    int
	me    int
	block []byte // what its block is
	sum   uint64 // what it has added for certain
	maybe uint64 // and perhaps besides
	begun []*weft.Op
	calls uint64
}

func (w *writer) off() int { return blocks + w.me*blockSize }

// step does one operation, and reports whether to go on.
func (w *writer) step() bool {
	n := 1 + w.rng.IntN(blockSize)
	at := w.rng.IntN(blockSize - n + 1)
	part := w.block[at : at+n]
	scribble := func(b []byte) {
		for i := range b {
			b[i] = byte(w.rng.Uint32())
		}
	}
	switch w.rng.IntN(9) {
	case 0, 1:
		scribble(part)
		return w.call(fmt.Sprintf("Push of %d bytes to %d", n, w.to),
			func() error { return w.far.Push(w.ctx, w.off()+at, part) }) == fine
	case 2:
		got := make([]byte, n)
		if w.call(fmt.Sprintf("Pull of %d bytes from %d", n, w.to),
			func() error { return w.far.Pull(w.ctx, got, w.off()+at) }) != fine {
			return false
		}
		if !bytes.Equal(got, part) {
			w.found("%s: %d bytes at %d of rank %d are not what was written", w.name, n, w.off()+at, w.to)
		}
		return true
	case 3:
		short := part[:min(n, weft.MaxPut)]
		scribble(short)
		return w.call(fmt.Sprintf("Put to %d", w.to), func() error { return w.far.Put(w.off()+at, short) }) == fine
	case 4:
		return w.call(fmt.Sprintf("Flush to %d", w.to), func() error { return w.far.Flush(w.ctx) }) == fine
	case 5:
		delta := uint64(w.rng.IntN(1000))
		ctx := w.ctx
		cancel := context.CancelFunc(func() {})
		if w.rng.IntN(3) == 0 {
			ctx, cancel = w.brief(w.ctx)
		}
		err := w.do(fmt.Sprintf("FetchAdd at %d", w.to),
			func() error { _, err := w.far.FetchAdd(ctx, wordSum, delta); return err })
		cancel()
		switch v := w.judge("FetchAdd", err, ctx != w.ctx); {
		case v == fine:
			w.sum += delta
		case v == later && outcome(err) == "unknown":
			w.maybe += delta
		case v != later:
			return false
		}
		return true
	case 6:
		return w.compareSwap()
	case 7:
		w.calls++
		return w.call(fmt.Sprintf("Swap at %d", w.to),
			func() error { _, err := w.far.Swap(w.ctx, wordsDone+8*w.me, w.calls); return err }) == fine
	default:
		return w.start()
	}
}

// compareSwap counts by one.
func (w *writer) compareSwap() bool {
	for old := uint64(0); ; {
		var seen uint64
		v := w.call(fmt.Sprintf("CompareSwap at %d", w.to), func() (err error) {
			seen, err = w.far.CompareSwap(w.ctx, wordCAS, old, old+1)
			return err
		})
		if v != fine || seen == old {
			return v == fine
		}
		if seen < old {
			w.found("%s: CompareSwap at %d saw %d after %d", w.name, w.to, seen, old)
		}
		old = seen
	}
}

// start begins an operation, of which wait waits for the outcome.
func (w *writer) start() bool {
	var op *weft.Op
	got := make([]byte, blockSize)
	v := w.call(fmt.Sprintf("Start of an operation at %d", w.to), func() (err error) {
		switch w.rng.IntN(3) {
		case 0:
			op, err = w.far.StartPush(w.off(), w.block)
		case 1:
			op, err = w.far.StartPull(got, w.off())
		default:
			op, err = w.far.StartFetchAdd(wordSum, 0)
		}
		return err
	})
	if v != fine {
		return false
	}
	if w.begun = append(w.begun, op); w.rng.IntN(3) > 0 {
		return w.wait() // what is begun must not be changed
	}
	return w.wait()
}

// wait waits for all operations that have been begun, and reports whether all ended well.
func (w *writer) wait() bool {
	ok := true
	for _, op := range w.begun {
		ok = w.call(fmt.Sprintf("Wait for an operation at %d", w.to), func() error { return op.Wait(w.ctx) }) == fine && ok
	}
	w.begun = nil
	return ok
}

// finish leaves what this writer has added, and its last word.
func (w *writer) finish(writers int) {
	b := make([]byte, 16)
	for i := range 4 {
		b[i] = byte(w.sum >> (8 * i))
		b[4+i] = byte(w.maybe >> (8 * i))
	}
	if w.call(fmt.Sprintf("Push of the total to %d", w.to),
		func() error { return w.far.Push(w.ctx, wordsTotal+8*w.me, b[:8]) }) != fine {
		return
	}
	w.call(fmt.Sprintf("Swap of the last word at %d", w.to), func() error {
		_, err := w.far.Swap(w.ctx, wordsDone+8*w.me, final)
		return err
	})
}

// addUp checks that the sum is what all have added.
func addUp(a *actor, s *scene, region *weft.Region, writers int) {
	var least, most uint64
	for i := range len(s.members) * writers {
		if region.Load(wordsDone+8*i) != final {
			return // it has been struck
		}
		total := region.Load(wordsTotal + 8*i)
		least += total & 0xffffffff
		most += total&0xffffffff + total>>32
	}
	if sum := region.Load(wordSum); sum < least || sum > most {
		a.found("%s: the sum is %d, of which %d were added, and %d perhaps", a.name, sum, least, most-least)
	}
}
