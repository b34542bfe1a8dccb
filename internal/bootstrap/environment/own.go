package environment

import "strings"

// readOwn reads WEFT_RANK and WEFT_SIZE; WEFT_RENDEZVOUS and the secret are read for all ways.
func readOwn(e Environment) (p Plan, err error) {
	if p.Rank, err = e.number(EnvRank); err != nil {
		return p, err
	}
	if e.Get(EnvSize) == "" {
		return p, &MissingVariable{EnvSize, "how many ranks has the job? Set it in all ranks"}
	}
	return p, nil
}

// readClaimed is for processes that are told how many they are, and not which: etcd gives each
// a rank.
func readClaimed(e Environment) (p Plan, err error) {
	p.Rank = Unclaimed
	if !strings.HasPrefix(e.Get(EnvRendezvous), "etcd://") {
		return p, &MissingVariable{EnvRank, "which rank is this process? Only etcd gives ranks by itself"}
	}
	return p, nil
}
