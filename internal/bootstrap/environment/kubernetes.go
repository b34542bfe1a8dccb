package environment

import (
	"fmt"
	"strings"
)

// readLWS reads what LeaderWorkerSet sets: the leader is rank 0.
func readLWS(e Environment) (p Plan, err error) {
	if p.Rank, err = e.number("LWS_WORKER_INDEX"); err != nil {
		return p, err
	}
	if p.Size, err = e.number("LWS_GROUP_SIZE"); err != nil {
		return p, err
	}
	leader := e.Get("LWS_LEADER_ADDRESS")
	p.Label = "lws " + leader
	switch {
	case leader != "":
		p.Hosts = []string{leader}
		p.Ports = []int{DefaultPort}
	case p.Size > 1 && e.Get(EnvRendezvous) == "":
		return p, &MissingVariable{Name: "LWS_LEADER_ADDRESS"}
	}
	return p, nil
}

// readIndexedJob reads what an Indexed Job says: an index, and nothing else. How many there are
// the manifest must say, and where rank 0 is follows from this pod's own name. A pod of several
// ranks, each in a container, is told so by variables of ours.
func readIndexedJob(e Environment) (p Plan, err error) {
	pod, err := e.number("JOB_COMPLETION_INDEX")
	if err != nil {
		return p, err
	}
	if p.Rank, err = rankInPod(e, pod); err != nil {
		return p, err
	}
	for _, name := range []string{EnvSize, "WORLD_SIZE"} {
		if e.Get(name) == "" {
			continue
		}
		if p.Size, err = e.number(name); err != nil {
			return p, err
		}
		break
	}
	if p.Size == 0 {
		return p, &MissingVariable{EnvSize,
			fmt.Sprintf("a Job does not tell its pods how many they are. Add to the container: "+
				"env: [{name: %s, value: \"N\"}], with N the completions; or %s=%s for jobs of one", EnvSize, EnvLauncher, None)}
	}
	p.Label = "kubernetes"
	first, ok := firstPod(e, pod)
	if ok {
		p.Label += " " + first
		p.Hosts = []string{first}
		p.Ports = []int{DefaultPort}
	} else if p.Size > 1 && e.Get(EnvRendezvous) == "" {
		return p, &MissingVariable{EnvRendezvous, "this pod (" + e.Name +
			") has no name in a service, from which that of rank 0 would follow. " +
			"The Job needs a headless Service (clusterIP: None, publishNotReadyAddresses: true, selector job-name) and in " +
			"the pod's template subdomain: SERVICE; " +
			"weft k8s prints such manifests. Or set it to JOB-0.SERVICE"}
	}
	return p, nil
}

// rankInPod returns the rank of this container: the pods have as many ranks each, in their order.
func rankInPod(e Environment, pod int) (int, error) {
	if e.Get(EnvLocalSize) == "" && e.Get(EnvLocalRank) == "" {
		return pod, nil
	}
	size, err := e.number(EnvLocalSize)
	if err != nil {
		return 0, err
	}
	rank, err := e.number(EnvLocalRank)
	if err == nil && rank >= size {
		err = fmt.Errorf("%s=%d: must be less than %s=%d", EnvLocalRank, rank, EnvLocalSize, size)
	}
	return pod*size + rank, err
}

// firstPod returns the name of the pod of rank 0: this pod's own, with another number.
func firstPod(e Environment, pod int) (string, bool) {
	job, ok := strings.CutSuffix(e.Name, fmt.Sprintf("-%d", pod))
	if !ok {
		return "", false
	}
	for _, name := range e.Names() {
		if domain, ok := strings.CutPrefix(name, e.Name+"."); ok {
			return job + "-0." + domain, true
		}
	}
	return "", false
}
