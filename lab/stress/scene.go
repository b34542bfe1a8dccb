package stress

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A scene is a bounded amount of work of some ranks with one part of the API.
type scene struct {
	*rank
	kind    string
	name    string
	number  int // in the job
	members []int
	channel int        // the first of channels that are the scene's own
	shared  *rand.Rand // says the same at all members
	group   crew
}

// channels is how many channels a scene has.
const channels = 4

// kinds lists what there is to play, with how often it is drawn.
var kinds = []struct {
	kind   string
	weight int
	play   func(s *scene)
}{
	{"stream", 4, stream},
	{"churn", 2, churn},
	{"request", 2, request},
	{"memory", 3, memory},
	{"lock", 3, lock},
	{"barrier", 2, barrier},
	{"collective", 2, collective},
	{"abandon", 1, abandon},
	{"revoke", 1, revoke},
	{"survive", 2, survive},
	{"mailbox", 3, mailbox},
	{"match", 2, matching},
	{"rules", 2, rules},
	{"window", 2, window},
	{"file", 1, file},
	{"sundry", 1, sundry},
	{"atomics", 2, atomics},
}

// cast draws the scenes of a round among the ranks that are left: the same at all ranks.
func (r *rank) cast(round int, ranks []int) (scenes []*scene) {
	rng := chance(r.seed, "cast", round)
	total := 0
	for _, k := range kinds {
		if r.plays(k.kind) {
			total += k.weight
		}
	}
	for i := range 2 + rng.IntN(5) {
		x := rng.IntN(total)
		for _, k := range kinds {
			if !r.plays(k.kind) {
				continue
			}
			if x -= k.weight; x >= 0 {
				continue
			}
			members := slices.Clone(ranks)
			rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
			if rng.IntN(2) == 0 {
				members = members[:1+rng.IntN(len(members))]
			}
			s := &scene{rank: r, kind: k.kind, number: round*16 + i, members: members, channel: 1 + i*channels, group: crew{p: r.p}}
			s.name = fmt.Sprintf("%s %d.%d", k.kind, round, i)
			s.shared = chance(r.seed, "scene", round, i)
			scenes = append(scenes, s)
			break
		}
	}
	return scenes
}

func (r *rank) plays(kind string) bool { return len(r.only) == 0 || slices.Contains(r.only, kind) }

// round plays this rank's part in all scenes of a round. Their channels are those of the
// round before, or new ones. Those of churn and sundry are always their own: what was sent to a port that is
// closed waits for the next one, whichever rank opens it, and in sundry nothing may come.
func (r *rank) round(n int, ranks []int, anew bool) {
	r.mu.Lock()
	clear(r.books) // of the round before
	r.mu.Unlock()
	group := crew{p: r.p}
	group.Go(func() { r.hearOfAll(ranks) })
	for _, s := range r.cast(n, ranks) {
		if anew || s.kind == "churn" || s.kind == "sundry" {
			s.channel = 1000 + s.number*channels
		}
		if !slices.Contains(s.members, r.p.Rank()) {
			continue
		}
		for _, k := range kinds {
			if k.kind == s.kind {
				group.Go(func() { k.play(s) })
			}
		}
	}
	group.Wait()
}

// scaled returns how often something is done of n times: in the simulator less often, so that there are more seeds.
func (s *scene) scaled(n int) int {
	if s.p.Simulated() {
		return 1 + n/8
	}
	return n
}

// act starts a goroutine of the scene.
func (s *scene) act(name string, f func(a *actor)) {
	s.act2(&s.group, name, f)
}

// act2 runs f as an actor in a goroutine of its own, which belongs to the group.
func (s *scene) act2(group *crew, name string, f func(a *actor)) {
	a := s.actor(s.name + " " + name)
	group.Go(func() {
		defer a.end()
		f(a)
	})
}

// note keeps what the scene knows of what is missing until it ends.
func (s *scene) note(book fmt.Stringer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.books[book] = s
}

// goodbyes calls f with each rank that leaves in good order, until done is raised.
func (r *rank) goodbyes(done *flag, f func(rank int)) {
	for heard := 0; ; {
		r.mu.Lock()
		left := r.left
		r.mu.Unlock()
		for ; heard < len(left); heard++ {
			f(left[heard])
		}
		_ = r.await(context.Background(), func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return done.raised() || len(r.left) > heard
		})
		if done.raised() {
			return
		}
	}
}

// Kinds returns the kinds of scenes that there are. The last, the table of ends, is played alone.
func Kinds() (names []string) {
	for _, k := range kinds {
		names = append(names, k.kind)
	}
	return append(names, endsKind)
}

// CheckKinds returns an error if the kinds of scenes in a text, with commas, are not all known.
func CheckKinds(only string) error {
	for _, kind := range strings.Split(only, ",") {
		if only != "" && !slices.Contains(Kinds(), kind) {
			return fmt.Errorf("there is no scene %q: there are %s", kind, strings.Join(Kinds(), ", "))
		}
	}
	return nil
}
