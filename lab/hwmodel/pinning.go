package hwmodel

import "slices"

// A PinCache has the pages that are pinned: up to a limit, and the one used least recently goes first. VMMC-2 keeps it
// in the library of the program (its user-managed TLB), PM in the driver (its pin-down cache).
type PinCache struct {
	Limit int   // pages
	pages []int // the one used last at the end
}

// Use pins a page, and reports whether it was pinned before.
func (c *PinCache) Use(page int) (hit bool) {
	if i := slices.Index(c.pages, page); i >= 0 {
		c.pages = slices.Delete(c.pages, i, i+1)
		hit = true
	} else if len(c.pages) == c.Limit {
		c.pages = slices.Delete(c.pages, 0, 1)
	}
	c.pages = append(c.pages, page)
	return hit
}

// The pages of the machines.
const pageBytes = 4096

// What PM's authors measured: messages of 8 KiB from memory that is pinned already, and from memory that never is.
const (
	pinAuthors = "the authors of PM, of its pin-down cache"
	pinMessage = 8192
)

var (
	pinnedRate   = &Input{"PM, 8 KiB, all pinned", 108.8, "MB/s", OfElsewhere, pinAuthors}
	unpinnedRate = &Input{"PM, 8 KiB, none pinned", 78.7, "MB/s", OfElsewhere, pinAuthors}
)

// pinning returns how long it takes to pin a page and to release another.
func pinning() Figure {
	bytes := exact(pinMessage)
	return bytes.over(unpinnedRate.figure()).minus(bytes.over(pinnedRate.figure())).times(float64(pageBytes) / pinMessage)
}

// Pinning models what it costs that a network card needs pinned memory. PM's authors measured both ends: all buffers
// pinned before, and none.
func Pinning() Table {
	const pages = pinMessage / pageBytes
	hit := pinnedRate.figure()
	limit := &Input{"limit of pinned memory", 1 << 20, "B", OfAssumption, "assumed: no paper gives one"}
	lookup := (&Input{"a look-up of VMMC-2 that hits", 0.5, "us", OfElsewhere,
		"the authors of VMMC-2, of its user-managed TLB"}).figure()

	bytes := exact(pinMessage)
	page := pinning()
	rate := func(missed float64) Figure { return bytes.over(bytes.over(hit).plus(page.times(pages * missed))) }
	over := func(random bool) func(int) Figure {
		return func(set int) Figure {
			f := rate(missRatio(int(limit.V), set, pages, random))
			return f.with(f.V, limit.figure())
		}
	}
	sets := lengths(64<<10, 16<<20)
	return Table{
		Name: "pinning", Title: "Pinned memory: PM's pin-down cache and VMMC-2's user-managed TLB",
		Results: []Result{
			compared("a miss: a page is pinned, another released", 0, page.times(1), "us",
				"the difference of PM's two bandwidths"),
			compared("PM, 8 KiB, half of the pages miss", 0, rate(0.5), "MB/s", ""),
			compared("VMMC-2, a tenth of the look-ups miss", 0, lookup.plus(page.times(0.1)), "us",
				"its authors: less than 2 us on average; a miss is taken to cost what PM's does"),
		},
		Charts: []Chart{{
			Name: "pinned", Title: "PM, messages of 8 KiB, by the memory that they are sent from", Unit: "MB/s",
			Lines: []Line{line("buffers in turn", sets, over(false)), line("buffers at random", sets, over(true))},
		}},
		Notes: []string{
			"Buffers that are used in turn miss always as soon as they are more than the limit: the oldest is the next.",
		},
	}
}

// missRatio sends messages of some pages from a set of buffers, and returns the share of pages that are not pinned.
func missRatio(limit, set, pages int, random bool) float64 {
	c := &PinCache{Limit: limit / pageBytes}
	buffers := set / pageBytes / pages
	rounds := 4 * buffers
	missed := 0
	state := uint64(1)
	for i := range rounds {
		buffer := i % buffers
		if random && i >= buffers {
			state = state*6364136223846793005 + 1442695040888963407
			buffer = int(state >> 33 % uint64(buffers))
		}
		for p := range pages {
			if !c.Use(buffer*pages+p) && i >= buffers { // the first use of each does not count
				missed++
			}
		}
	}
	return float64(missed) / float64((rounds-buffers)*pages)
}
