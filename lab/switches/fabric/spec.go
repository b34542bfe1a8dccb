package fabric

import (
	"os"
	"strconv"
	"strings"
)

// Specs describes the networks that Open takes.
const Specs = "file:PATH, " + Kinds + `; for jobs also NETWORK by MAP: packets take the routes of a map that was found`

// Open returns the network that text describes: one read from a file of links, or one that is generated for so many
// hosts.
func Open(text string, hosts int) (*Network, error) {
	if name, ok := strings.CutPrefix(text, "file:"); ok {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return Parse(name, f)
	}
	words := strings.Split(text, ":")
	if len(words) < 2 || len(words) > 3 || len(words) == 3 && words[0] != "switch-random" {
		return nil, conflict("%q names no network of switches: there are %s", text, Specs)
	}
	ports, err := strconv.Atoi(words[1])
	if err != nil {
		return nil, conflict("%q in %s is no number of ports", words[1], text)
	}
	seed := uint64(1)
	if len(words) == 3 {
		if seed, err = strconv.ParseUint(words[2], 10, 64); err != nil {
			return nil, conflict("%q in %s is no seed: a seed is a number from 0 on", words[2], text)
		}
	}
	return Generate(words[0], ports, hosts, seed)
}
