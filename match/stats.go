package match

// Stats counts what the searches of both queues cost.
type Stats struct {
	Posted     QueueStats // receives that wait, searched for every message that arrives
	Unexpected QueueStats // messages that nothing has asked for, searched for every receive and probe
}

// QueueStats describes one of the two queues, all sources together.
type QueueStats struct {
	Len    int    // entries now
	MaxLen int    // most at any time
	SumLen uint64 // entries that there were at each search, added up

	Searches  uint64 // how often the queue was searched
	Looked    uint64 // entries that the searches compared, the one found among them
	MaxLooked int    // most that one search compared
}

// MeanLen returns how many entries the queue had when it was searched.
func (q *QueueStats) MeanLen() float64 { return ratio(q.SumLen, q.Searches) }

// MeanLooked returns how many entries a search compared.
func (q *QueueStats) MeanLooked() float64 { return ratio(q.Looked, q.Searches) }

// searched counts a search that compared so many entries.
func (q *QueueStats) searched(looked int) {
	q.Searches++
	q.SumLen += uint64(q.Len)
	q.Looked += uint64(looked)
	q.MaxLooked = max(q.MaxLooked, looked)
}

// grown counts an entry that has come.
func (q *QueueStats) grown() {
	q.Len++
	q.MaxLen = max(q.MaxLen, q.Len)
}

func ratio(sum, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}
