package bootstrap

import "slices"

// Departures decides which ranks of a job are told that the program of a rank has ended. To tell each rank of each end
// would take N² messages. So a rank is told of an end only
//
//   - by the rank itself, with which it has exchanged something (PROTOCOL §5);
//   - if it has asked to be told: Await;
//   - of all ends at once, when no other rank is left whose program runs.
//
// That a rank has died is another matter: that is told to all.
//
// Its methods must not be called at the same time.
type Departures struct {
	ended   []bool        // by rank: its program or its process has ended
	live    int           // ranks that have not
	left    map[int][]int // of the ranks whose programs have returned: the ranks that they tell themselves
	awaited map[int][]int // by rank, the ranks that await its end
	every   []int         // ranks that await all ends
}

// A Notice is what a rank is to be told: the programs of these ranks have returned.
type Notice struct {
	To int
	Of []int // in order
}

// NewDepartures returns those of a job of so many ranks, whose programs all run.
func NewDepartures(size int) *Departures {
	return &Departures{ended: make([]bool, size), live: size, left: map[int][]int{}, awaited: map[int][]int{}}
}

// Await says that a rank is to be told when the program of another one has returned, or of Every rank. It returns what
// the rank is to be told now: that has happened before. To ask again, or for a rank that the job does not have, changes
// nothing.
func (d *Departures) Await(by, rank int) []Notice {
	told, returned := d.left[rank]
	switch {
	case rank == Every && !slices.Contains(d.every, by):
		d.every = append(d.every, by)
		return d.all(by)
	case returned:
		return notice(by, rank, told)
	case rank >= 0 && rank < len(d.ended) && !d.ended[rank] && !slices.Contains(d.awaited[rank], by):
		d.awaited[rank] = append(d.awaited[rank], by)
	}
	return nil
}

// notice is the notice to one rank of the end of another one, unless the latter tells it itself.
func notice(to, of int, told []int) []Notice {
	if to == of || slices.Contains(told, to) {
		return nil
	}
	return []Notice{{to, []int{of}}}
}

// all is the notice to one rank of all ends so far.
func (d *Departures) all(to int) []Notice {
	var of []int
	for rank, told := range d.left {
		if rank != to && !slices.Contains(told, to) {
			of = append(of, rank)
		}
	}
	if of == nil {
		return nil
	}
	slices.Sort(of)
	return []Notice{{to, of}}
}

// Returned says that the program of a rank has returned, and which ranks it tells itself. It returns what others are to
// be told.
func (d *Departures) Returned(rank int, told []int) (news []Notice) {
	if d.ended[rank] {
		return nil
	}
	d.left[rank] = told
	for _, by := range append(d.awaited[rank], d.every...) {
		if !d.ended[by] {
			news = append(news, notice(by, rank, told)...)
		}
	}
	return append(news, d.Ended(rank)...)
}

// Ended says that the process of a rank has ended. It returns what others are to be told: the last one learns that it
// is alone.
func (d *Departures) Ended(rank int) []Notice {
	if d.ended[rank] {
		return nil
	}
	d.ended[rank] = true
	d.live--
	delete(d.awaited, rank)
	if d.live != 1 {
		return nil
	}
	return d.all(slices.Index(d.ended, false))
}

// Told returns the ranks that a rank whose program has returned has told itself: those with which it has exchanged
// something.
func (d *Departures) Told(rank int) (told []int, returned bool) {
	told, returned = d.left[rank]
	return told, returned
}

// Over reports whether the programs of all ranks have ended.
func (d *Departures) Over() bool { return d.live == 0 }
