package match

// Stats counts what the searches of both queues have cost.
type Stats struct {
	Posted     QueueStats // posted receives, which each message that arrives searches
	Unexpected QueueStats // unexpected messages, which each receive and probe searches
}

// QueueStats describes one of the two queues, all sources together.
type QueueStats struct {
	Len    int    // entries now
	MaxLen int    // the most entries at any time
	SumLen uint64 // the sum, over all searches, of the entries at that time

	Searches  uint64 // searches so far
	Looked    uint64 // entries that the searches compared, including those that they found
	MaxLooked int    // the most entries that one search compared
}

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
