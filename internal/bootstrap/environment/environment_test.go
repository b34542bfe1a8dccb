package environment

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// variables is an environment of so many variables, as "NAME=value NAME=value".
func variables(text string) Environment {
	vars := map[string]string{}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		vars[name] = value
	}
	return Environment{
		Get: func(name string) string { return vars[name] }, Name: "sort-3",
		Names: func() []string { return []string{"localhost", "sort-3.ranks.default.svc.cluster.local", "sort-3"} },
	}
}

const secretText = " WEFT_SECRET=a-secret-of-a-test"

// What each launcher sets is recognized, and an inner launcher before an outer one.
func TestRecognize(t *testing.T) {
	slurm := "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=9 " +
		"SLURM_STEP_NODELIST=n[01-16] SLURM_NODEID=1 "
	torch := "RANK=1 WORLD_SIZE=4 LOCAL_RANK=0 MASTER_ADDR=m MASTER_PORT=29500 "
	for text, want := range map[string]struct {
		way        string
		rank, size int
		first      string // address
	}{
		"": {None, 0, 1, ""},
		"WEFT_RANK=1 WEFT_SIZE=2 WEFT_RENDEZVOUS=h:99":        {"weft", 1, 2, "h:99"},
		"WEFT_RANK=1 WEFT_SIZE=2 WEFT_RENDEZVOUS=h":           {"weft", 1, 2, "h:61060"},
		"WEFT_RANK=1 WEFT_SIZE=2 WEFT_RENDEZVOUS=fd00::1":     {"weft", 1, 2, "[fd00::1]:61060"},
		"WEFT_RANK=1 WEFT_SIZE=2 WEFT_RENDEZVOUS=[fd00::1]:9": {"weft", 1, 2, "[fd00::1]:9"},
		"WEFT_RANK=0 WEFT_SIZE=1":                             {"weft", 0, 1, ""},
		"PMI_FD=6 PMI_RANK=0 PMI_SIZE=3 " + slurm:             {"pmi", 0, 0, ""},
		"PMI_PORT=h:1 PMI_ID=0":                               {"pmi", 0, 0, ""},
		slurm:                                                 {"slurm", 2, 4, "n01:"},
		"SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4":        {None, 0, 1, ""}, // a batch script
		torch:         {"torch", 1, 4, "m:29500"},
		torch + slurm: {"slurm", 2, 4, "n01:"},
		torch + slurm + "TORCHELASTIC_RUN_ID=x TORCHELASTIC_USE_AGENT_STORE=True": {"torchrun", 1, 4, "m:6"},
		"PET_NNODES=4 PET_NODE_RANK=3 PET_MASTER_ADDR=m PET_MASTER_PORT=29400":    {"pet", 3, 4, "m:29400"},
		"PET_NNODES=4:4 PET_NODE_RANK=3 PET_MASTER_ADDR=m":                        {"pet", 3, 4, "m:29500"},
		"LWS_LEADER_ADDRESS=l.s LWS_GROUP_SIZE=4 LWS_WORKER_INDEX=1":              {"lws", 1, 4, "l.s:61060"},
		"JOB_COMPLETION_INDEX=3 WEFT_SIZE=4": {"kubernetes", 3, 4,
			"sort-0.ranks.default.svc.cluster.local:61060"},
		"JOB_COMPLETION_INDEX=3 WEFT_SIZE=8 WEFT_LOCAL_RANK=1 WEFT_LOCAL_SIZE=2": {"kubernetes", 7, 8,
			"sort-0.ranks.default.svc.cluster.local:61060"},
		"JOB_COMPLETION_INDEX=3 WORLD_SIZE=4 WEFT_RENDEZVOUS=sort-0.ranks": {"kubernetes", 3, 4,
			"sort-0.ranks:61060"},
		"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 WEFT_RENDEZVOUS=h " + slurm: {"ompi", 1, 2, "h:61060"},
		slurm + "WEFT_LAUNCHER=none":                  {None, 0, 1, ""},
		slurm + torch + "WEFT_LAUNCHER=torch":         {"torch", 1, 4, "m:29500"},
		"WEFT_SIZE=2 WEFT_RENDEZVOUS=etcd://h:2379/a": {"etcd", Unclaimed, 2, ""},
		slurm + "WEFT_RENDEZVOUS=etcd://h:2379/a":     {"slurm", 2, 4, ""},
	} {
		p, err := Recognize(variables(text + secretText))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		first := append(p.addresses(), "")[0]
		if p.Way.Name != want.way || p.Rank != want.rank || p.Size != want.size || !strings.HasPrefix(first, want.first) {
			t.Errorf("%s: %s, rank %d of %d at %q", text, p.Way.Name, p.Rank, p.Size, first)
		}
	}
}

// What lacks is named, with what to do.
func TestMissing(t *testing.T) {
	for text, want := range map[string]string{
		"WEFT_RANK=1 " + secretText:                                              "WEFT_SIZE is not set",
		"WEFT_RANK=1 WEFT_SIZE=2" + secretText:                                   "WEFT_RENDEZVOUS is not set: where is rank",
		"WEFT_RANK=2 WEFT_SIZE=2" + secretText:                                   "rank 2 of 2: must be from 0 to 1",
		"WEFT_RANK=x WEFT_SIZE=2" + secretText:                                   "WEFT_RANK=\"x\": must be a number",
		"WEFT_RANK=0 WEFT_SIZE=0" + secretText:                                   "a job of 0 ranks",
		"WEFT_RANK=0 WEFT_SIZE=-1" + secretText:                                  "WEFT_SIZE=\"-1\"",
		"WEFT_RANK=0 WEFT_SIZE=2 WEFT_RENDEZVOUS=h:http" + secretText:            "must be HOST or HOST:PORT",
		"WEFT_RANK=0 WEFT_SIZE=2 WEFT_RENDEZVOUS=h":                              "WEFT_SECRET is not set",
		"WEFT_RANK=0 WEFT_SIZE=2 WEFT_RENDEZVOUS=h WEFT_SECRET=short":            "has 5 bytes: must have at least 16",
		"WEFT_RANK=0 WEFT_SIZE=2 WEFT_RENDEZVOUS=h WEFT_SECRET=aaaaaaaaaaaaaaaa": "has only 1 different bytes",
		"WEFT_RANK=0 WEFT_SIZE=2 WEFT_RENDEZVOUS=h WEFT_SECRET_FILE=/nosuch":     "WEFT_SECRET_FILE: open /nosuch",
		"WEFT_SIZE=2 WEFT_RENDEZVOUS=h" + secretText:                             "WEFT_RANK is not set",
		"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2" + secretText:             "PMIx, which weft does not speak",
		"OMPI_COMM_WORLD_RANK=1" + secretText:                                    "OMPI_COMM_WORLD_SIZE is not set",
		"RANK=1 WORLD_SIZE=2" + secretText:                                       "MASTER_ADDR is not set",
		"RANK=1 WORLD_SIZE=2 MASTER_ADDR=m MASTER_PORT=no" + secretText:          "MASTER_PORT=\"no\"",
		"PET_NODE_RANK=1 PET_NNODES=2:4 PET_MASTER_ADDR=m" + secretText:          "a job of weft has a fixed size",
		"PET_NODE_RANK=1 PET_NNODES=2 PET_NPROC_PER_NODE=8" + secretText:         "PET_NPROC_PER_NODE=8",
		"LWS_WORKER_INDEX=1 LWS_GROUP_SIZE=2" + secretText:                       "LWS_LEADER_ADDRESS is not set",
		"JOB_COMPLETION_INDEX=1" +
			secretText: "WEFT_SIZE is not set: a Job does not tell its pods",
		"JOB_COMPLETION_INDEX=1 WEFT_SIZE=4 WEFT_LOCAL_RANK=1" + secretText: "WEFT_LOCAL_SIZE is not set",
		"JOB_COMPLETION_INDEX=1 WEFT_SIZE=4 WEFT_LOCAL_RANK=2 WEFT_LOCAL_SIZE=2" +
			secretText: "WEFT_LOCAL_RANK=2: must be less than WEFT_LOCAL_SIZE=2",
		"JOB_COMPLETION_INDEX=1 WEFT_SIZE=4" + secretText:            "has no name in a service",
		"SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2" + secretText: "SLURM_STEP_NODELIST is not set",
		"WEFT_LAUNCHER=bproc": "WEFT_LAUNCHER=\"bproc\": must be weft, pmi",
		"WEFT_LAUNCHER=slurm": "SLURM_STEP_ID and SLURM_PROCID",
	} {
		e := variables(text)
		e.Name = "elsewhere"
		_, err := Recognize(e)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), " is not set") != errors.As(err, new(*MissingVariable)) {
			t.Errorf("%s: %v is no MissingVariable, or is one", text, err)
		}
	}
}

// What was found, what counts and what is missing is told in a line each.
func TestExplain(t *testing.T) {
	slurm := "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_STEP_NODELIST=n[1-4]"
	for text, want := range map[string][]string{
		"": {"is a job of one: no launcher's variables are set"},
		slurm + " JOB_COMPLETION_INDEX=3" + secretText: {
			"is rank 2 of 4, by srun without PMI (SLURM_STEP_ID=0 SLURM_PROCID=2)", "rank 0 serves at n1:6",
			"by a secret of 18 bytes",
			"not used: Kubernetes Indexed Job (JOB_COMPLETION_INDEX=3)",
		},
		slurm: {"fails: this process was started by srun without PMI (SLURM_STEP_ID=0 SLURM_PROCID=2): WEFT_SECRET " +
			"is not set"},
		"PMI_FD=5": {"is a rank of a job; which, PMI says", "learn by PMI where", "a secret that rank 0 makes"},
		"WEFT_SIZE=2 WEFT_RENDEZVOUS=etcd://h/a WEFT_TRUST_NETWORK=1": {
			"is one of 2 ranks; which, etcd says", "learn at etcd://h/a where", "trusts the network",
		},
	} {
		got := Explain(variables(text))
		for i, w := range want {
			if i >= len(got) || !strings.Contains(got[i], w) {
				t.Errorf("%s: %q lacks %q", text, got, w)
			}
		}
	}
}

// A job that is started again has another label, and with it other ports.
func TestLabels(t *testing.T) {
	var labels []string
	for _, more := range []string{"", " SLURM_RESTART_COUNT=1", " SLURM_STEP_ID=1", " SLURM_JOB_ID=8"} {
		e := "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_STEP_NODELIST=n" + more + secretText
		p, err := Recognize(variables(e))
		if err != nil || slices.Contains(labels, p.Label) || len(p.Ports) != tries {
			t.Errorf("%s: %q, %v, %v", more, p.Label, p.Ports, err)
		}
		labels = append(labels, p.Label)
	}
}

func TestBeacon(t *testing.T) {
	b := beacon{host: "n1.0123", port: 61100, secret: make([]byte, 32), addresses: []string{"10.0.0.1", "fd00::1"}}
	got, err := parseBeacon(b.String())
	if err != nil || got.String() != b.String() || len(b.String()) > 600 {
		t.Errorf("%s: %s, %v", b, got, err)
	}
	if where := got.where("n1.0123"); where[0] != "127.0.0.1:61100" || len(where) != 3 {
		t.Errorf("%q", where)
	}
}

func FuzzEnvironment(f *testing.F) {
	f.Add("WEFT_RANK=1 WEFT_SIZE=2 WEFT_RENDEZVOUS=h:99", "1,h,1,00,10.0.0.1")
	f.Add("SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_NODELIST=n[1-2],[3]", "")
	f.Add("JOB_COMPLETION_INDEX=3 WEFT_SIZE=4", "")
	f.Add("PET_NNODES=4:4 PET_NODE_RANK=3 PET_MASTER_ADDR=m", "")
	f.Fuzz(func(t *testing.T, text, published string) {
		if p, err := Recognize(variables(text + secretText)); err == nil && p.Way.Name != "pmi" &&
			(p.Size < 1 || p.Rank >= p.Size) {
			t.Errorf("rank %d of %d", p.Rank, p.Size)
		}
		if b, err := parseBeacon(published); err == nil && (b.port < 1 || len(b.where("h")) > mostAddresses+1) {
			t.Errorf("%q", b)
		}
	})
}
