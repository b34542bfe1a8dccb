package stress_test

import (
	"flag"
	"strings"
	"testing"

	"weft"
	"weft/internal/explore"
	"weft/lab/stress"
)

var (
	seed  = flag.Uint64("stress.seed", 0, "the first seed of TestSimulation; 0 means those of the round of WEFT_EXPLORE")
	seeds = flag.Uint64("stress.seeds", explore.Choose[uint64](1, 2),
		"how many seeds TestSimulation plays of each kind of scene")
)

// TestSimulation plays jobs of each kind of scene alone, and of all together, in virtual time, and the first one twice:
// the same seed does the same, to the bit. weftlab sim plays seed after seed.
func TestSimulation(t *testing.T) {
	for _, kind := range append(stress.Kinds(), "") {
		name := kind
		if kind == "" {
			name = "all"
		}
		t.Run(name, func(t *testing.T) {
			first, _ := explore.Seeds(*seeds)
			switch {
			case *seed > 0:
				first = *seed
			case first == 0:
				first = 1 // five ranks on five hosts
			}
			for s := range *seeds {
				plan := stress.DrawSimulated(first + s)
				f, was := stress.Simulate(t.Context(), plan, kind, "", nil)
				if f != nil {
					t.Fatalf("-run 'TestSimulation/^%s$' -stress.seed=%d -stress.seeds=1\n%v\n%s", name, plan.Seed, plan,
						strings.Join(f.Found, "\n"))
				}
				if s == 0 {
					again(t, plan, kind, was)
				}
			}
		})
	}
}

// again plays a job once more, which must do the same.
func again(t *testing.T, plan stress.Plan, kind string, was *weft.Simulation) {
	t.Helper()
	if _, is := stress.Simulate(t.Context(), plan, kind, "", nil); is.Hash != was.Hash || is.Events != was.Events {
		t.Errorf("hash %#x after %d events, then %#x after %d", was.Hash, was.Events, is.Hash, is.Events)
	}
}

// TestSharedHosts: the same seed does the same, to the bit, also if ranks share a host and offer each other long
// messages in their memory.
func TestSharedHosts(t *testing.T) {
	plan := stress.DrawSimulated(6)
	if plan.Hosts == plan.N {
		t.Fatalf("each rank has a host of its own: %v", plan)
	}
	_, was := stress.Simulate(t.Context(), plan, "match", "", nil)
	again(t, plan, "match", was)
}

// TestMendedFaults plays seeds that have found faults of weft, by the kind of scene that has found them.
func TestMendedFaults(t *testing.T) {
	for seed, kind := range map[uint64]string{
		593:                 "ends",        // a leader returned before it had its part of a barrier in memory
		1795692506486565233: "lock",        // a rank that had returned was asked in a repair, and its answer refused
		30384:               "barrier",     // a member waited in memory for one that had died, which only another member had known
		21073:               "barrier",     // a rank that returned before its first Sync of an RBCQ-1 barrier was waited for
		1795716929687833823: "",            // a message of a revoked communicator was refused before its sender was told why
		1795717364263837744: "abandon",     // a revocation was told after the refusal of a message
		30104:               "survive",     // a member agreed with one that had failed to make the communicator
		1795717334670725137: "",            // a member waited for the messages of one that had failed to make the communicator
		1795730266716733159: "abandon",     // a member closed its board's barrier before others knew of the revocation
		1795730365734603796: "",            // a member that gave up did not come to where the others meet
		1795733688354501171: "",            // members waited for messages from anybody that one had not sent when it left
		1795737463182075847: "file,window", // a member waited for memory of one that had failed to make the window
		1795738311446017707: "file,window", // a member told others that it could not access a file, and not that one had died
		1795738445975814637: "file,window", // the same of a member whose context had ended
		// a message that had been taken alone, and was given up, was followed by one of another tag
		1795741995540801416: "abandon,collective,survive,rules,match",
		1795742387238723040: "",        // a rank was not told of a return, for want of a port for a message
		1795748874976212643: "barrier", // a leader that ended named another leader as gone to the members of its host
		// a rank left with a lock whose home grants permits, and the next holder was not told
		1456:                "lock",
		1795757029892002445: "sundry,request", // a scene in which nothing may come took what an earlier one had sent
		1127000010:          "ends",           // an operation in memory waited for a rank that had returned
		1795759712330180397: "",               // TryMProbe took a message that a receive waited for
		1795759625021557235: "",               // the same
	} {
		if f, _ := stress.Simulate(t.Context(), stress.DrawSimulated(seed), kind, "", nil); f != nil {
			t.Errorf("seed %d: %s", seed, strings.Join(f.Found, "\n"))
		}
	}
}
