package driver

import "time"

// A way is how the bytes of a long message come from a process of this host.
type way uint8

const (
	sent way = iota // in packets: its sender copies them into the ring while its receiver copies them out
	read            // by a system call, which pins pages and copies once
)

// ways finds out which way is faster from a peer: that depends on the caches that both processors share, and on the
// kernel.
type ways struct {
	cost  [2]time.Duration // of a mebibyte by each way, as far as known: 0 if it has not been tried
	since int              // how many messages have come by the faster way since the other was tried
}

const (
	// short is up to how many bytes packets are as fast as a system call anywhere.
	short = 64 << 10

	// retryWay is how many messages come by the faster way before the other is tried again.
	retryWay = 64
)

// choose returns the way for the next message of size bytes.
func (w *ways) choose(size int) way {
	faster := sent
	if w.cost[read] < w.cost[sent] {
		faster = read
	}
	switch {
	case size <= short:
		return sent
	case w.cost[sent] == 0 || w.cost[read] == 0:
		return faster // the one that has not been tried
	}
	if w.since++; w.since > retryWay {
		w.since = 0
		return 1 - faster
	}
	return faster
}

// took notes how long a message of size bytes took. A message that had to wait for its sender says little: it counts
// as if it had taken twice as long as others.
func (w *ways) took(by way, size int, d time.Duration) {
	if size <= short {
		return
	}
	cost := max(d*(1<<20)/time.Duration(size), 1)
	old := w.cost[by]
	if old == 0 {
		w.cost[by] = cost
		return
	}
	w.cost[by] += (min(cost, 2*old) - old) / 8
}
