package weft

// A BarrierAlgorithm is how the members of a barrier find out that all have arrived. In
// the figures below n is the number of members, and a hop is a message that must arrive
// before the next one is sent.
type BarrierAlgorithm string

const (
	// BarrierAuto chooses the algorithm that suits the members; Barrier.Why tells which.
	BarrierAuto BarrierAlgorithm = "auto"
	// BarrierShared is a counter in memory that all members share, on one host.
	BarrierShared BarrierAlgorithm = "shared"
	// BarrierTwoLevel is BarrierShared on each host, and BarrierDissemination between hosts.
	BarrierTwoLevel BarrierAlgorithm = "two-level"
	// BarrierCentral means that all tell the first member, which tells all.
	BarrierCentral BarrierAlgorithm = "central"
	// BarrierTree goes up a tree and down again; see BarrierConfig.Arity.
	BarrierTree BarrierAlgorithm = "tree"
	// BarrierDissemination needs the fewest hops for any number of members.
	BarrierDissemination BarrierAlgorithm = "dissemination"
	// BarrierShuffle is a shuffle exchange among a power of two; the rest are satellites.
	BarrierShuffle BarrierAlgorithm = "shuffle"
	// BarrierModified is the modified shuffle exchange on a torus.
	BarrierModified BarrierAlgorithm = "modified"
	// BarrierAligned is BarrierCentral with a release at one instant, as far as the clocks
	// of the members can be compared.
	BarrierAligned BarrierAlgorithm = "aligned"
	// BarrierRBCQ1 is the fuzzy barrier RBCQ-1: see Barrier.Sync.
	BarrierRBCQ1 BarrierAlgorithm = "rbcq1"
)

var barrierMeanings = []struct {
	algorithm BarrierAlgorithm
	meaning   string
}{
	{BarrierAuto, "what suits the members: see Barrier.Why"},
	{BarrierShared, "a counter in memory that all members share; all must be on one host"},
	{BarrierTwoLevel, "a counter in shared memory in each host, dissemination between hosts"},
	{BarrierCentral, "all tell the first member, which tells all: 2(n-1) messages, 2 hops"},
	{BarrierTree, "up a tree and down again: 2(n-1) messages, 2·log n hops"},
	{BarrierDissemination, "n·log2 n messages, log2 n hops, for any n"},
	{BarrierShuffle, "shuffle exchange among a power of two, the rest as satellites: log2 n hops, or up to 2 more"},
	{BarrierModified, "modified shuffle exchange on a torus of up to 6 × 6, the rest as satellites: 6 hops"},
	{BarrierAligned, "central, and all go on at the same instant, as far as their clocks can be compared"},
	{BarrierRBCQ1, "RBCQ-1: Sync with a distance in place of Wait and Arrive"},
}

// BarrierAlgorithms returns all algorithms of barriers.
func BarrierAlgorithms() []BarrierAlgorithm {
	all := make([]BarrierAlgorithm, len(barrierMeanings))
	for i, m := range barrierMeanings {
		all[i] = m.algorithm
	}
	return all
}

// Meaning explains the algorithm in a line of text; empty if there is no such algorithm.
func (a BarrierAlgorithm) Meaning() string {
	for _, m := range barrierMeanings {
		if m.algorithm == a {
			return m.meaning
		}
	}
	return ""
}
