package environment

import (
	"fmt"
	"strings"
)

// Explain says how a program that is started in this environment becomes a rank: what was found,
// what counts, and what is missing. A line for each.
func Explain(e Environment) (lines []string) {
	p, err := Recognize(e)
	switch {
	case err != nil:
		lines = append(lines, "a program that is started here fails: "+strings.TrimPrefix(err.Error(), "weft: "))
	case p.Way.Name == None:
		lines = append(lines, "a program that is started here is a job of one: "+p.Way.nobody())
	default:
		lines = append(lines,
			fmt.Sprintf("a program that is started here is %s, by %s (%s)", p.identity(), p.Way.Title, p.Way.say(e)))
		if p.Size != 1 {
			lines = append(lines, p.where(), p.guarded())
		}
	}
	for _, w := range ways {
		if w.found(e) && (w.Title != p.Way.Title) {
			lines = append(lines,
				fmt.Sprintf("also found, and not used: %s (%s); %s=%s chooses it", w.Title, w.say(e), EnvLauncher, w.Name))
		}
	}
	return lines
}

// nobody says why there is no launcher.
func (w Way) nobody() string {
	if strings.Contains(w.Title, EnvLauncher) {
		return w.Title
	}
	return "no launcher's variables are set (docs/LAUNCHERS.md)"
}

// identity says which rank a process is.
func (p *Plan) identity() string {
	switch {
	case p.Rank == Unclaimed:
		return fmt.Sprintf("one of %d ranks; which, etcd says", p.Size)
	case p.Size == 0:
		return "a rank of a job; which, PMI says"
	default:
		return fmt.Sprintf("rank %d of %d", p.Rank, p.Size)
	}
}

// where says how rank 0 is found.
func (p *Plan) where() string {
	switch {
	case p.Way.Name == "pmi" && p.Etcd == "":
		return "rank 0 serves the others, which learn by PMI where"
	case p.Etcd != "":
		return "rank 0 serves the others, which learn at " + p.Etcd + " where"
	}
	all := p.addresses()
	text := all[0]
	if len(all) > 1 {
		text += fmt.Sprintf(", or %d more places", len(all)-1)
	}
	if p.Rank == 0 {
		return "it serves the others, which look for it at " + text
	}
	return "rank 0 serves at " + text
}

// guarded says by what ranks recognize each other.
func (p *Plan) guarded() string {
	switch {
	case p.Secret != nil:
		return fmt.Sprintf("ranks recognize each other by a secret of %d bytes", len(p.Secret))
	case p.Trusted:
		return "ranks do not recognize each other: " + EnvTrust + "=1 trusts the network"
	default:
		return "ranks recognize each other by a secret that rank 0 makes, and PMI hands to them"
	}
}
