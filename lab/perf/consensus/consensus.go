// Package consensus measures how long a proposal takes in a library of consensus that knows nothing of weft: over the
// library's own TCP, and over streams. Each rank of a job runs one server, so that `weft run -n 3` measures on one host,
// and `weftlab lab -hosts 3 -- weft run -n 3 -transport udp` between hosts.
//
// contrib/raft/perf and contrib/dragonboat/perf are its programs. Tested by theirs.
package consensus

import (
	"context"
	"flag"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"weft"
	"weft/mpi"
	"weft/stream"
)

// A Place is how one server of a cluster is reached, and how it reaches the others.
type Place struct {
	System    string   // one of Systems
	Rank      int      // of this server
	Addresses []string // of all servers, by rank
	Network   *stream.Network
}

// Systems are what carries a cluster's messages: the library's own TCP; streams between processes of one host; TLS; and
// the job's own network.
var Systems = []string{"tcp", "weft", "tls", "ranks"}

// A Server is one of a cluster.
type Server interface {
	Leader() (rank int, known bool)
	Propose() error // waits until the proposal is committed; the leader's is called
	Close()
}

// Key is the key of System tls. It is not a secret.
var Key = make([]byte, stream.MinKey)

const (
	channel = 1
	nobody  = -1
	patient = 30 * time.Second // for a leader
)

type spec struct {
	systems   []string
	proposals int
	rounds    int
	between   bool // several hosts
}

// Main is the main function of a program that measures a library; start starts a server.
func Main(start func(ctx context.Context, at Place) (Server, error)) {
	systems := flag.String("systems", "", "what carries the messages, with commas: "+strings.Join(Systems, ", ")+
		"; the first is compared with; without, tcp, weft and ranks on one host, and tcp, tls and ranks between hosts")
	proposals := flag.Int("n", 2000, "proposals of each measurement")
	rounds := flag.Int("rounds", 5, "rounds")
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error {
		s := spec{proposals: *proposals, rounds: *rounds}
		s.systems = strings.FieldsFunc(*systems, func(r rune) bool { return r == ',' })
		for rank := range p.Size() {
			peer, err := p.Connect(ctx, rank)
			if err != nil {
				return err
			}
			s.between = s.between || peer.Host != p.Host()
		}
		if len(s.systems) == 0 {
			s.systems = []string{"tcp", "weft", "ranks"}
			if s.between {
				s.systems[1] = "tls"
			}
		}
		return s.run(ctx, p, start)
	})
}

func (s spec) run(ctx context.Context, p *weft.Proc, start func(context.Context, Place) (Server, error)) error {
	world := mpi.World(p)
	network, err := stream.Open(p, channel)
	if err != nil {
		return err
	}
	defer network.Close()
	medians := make([][]float64, len(s.systems))
	for range s.rounds {
		for i, system := range s.systems {
			median, err := s.measure(ctx, world, Place{System: system, Rank: p.Rank(), Network: network}, start)
			if err != nil {
				return fmt.Errorf("%s: %w", system, err)
			}
			medians[i] = append(medians[i], median)
		}
	}
	if p.Rank() != 0 {
		return nil
	}
	var first float64
	for i, system := range s.systems {
		slices.Sort(medians[i])
		median := medians[i][len(medians[i])/2]
		if i == 0 {
			first = median
		}
		fmt.Printf("%-6s median %8.1f µs (%.1f to %.1f in %d rounds of %d proposals), %.2f × %s\n", system, median,
			medians[i][0], medians[i][len(medians[i])-1], s.rounds, s.proposals, median/first, s.systems[0])
	}
	return nil
}

// measure lets a new cluster commit, and returns the median in microseconds. A cluster that changes its leader meanwhile
// is replaced.
func (s spec) measure(ctx context.Context, world *mpi.Comm, at Place,
	start func(context.Context, Place) (Server, error)) (float64, error) {
	for range 10 {
		mine, err := s.place(at)
		if err != nil {
			return 0, err
		}
		if at.Addresses, err = gather(ctx, world, mine); err != nil {
			return 0, err
		}
		server, err := start(ctx, at)
		if err != nil {
			return 0, err
		}
		result := []float64{nobody}
		if lead(ctx, server) == at.Rank {
			result[0] = commit(server, s.proposals)
		}
		err = mpi.AllReduce(ctx, world, result, mpi.Max)
		server.Close()
		if err != nil || result[0] > 0 {
			return result[0], err
		}
	}
	return 0, fmt.Errorf("no leader has stayed")
}

// place returns the address of this rank's server.
func (s spec) place(at Place) (string, error) {
	switch at.System {
	case "ranks":
		return fmt.Sprint("rank", at.Rank), nil
	case "weft":
		return fmt.Sprintf("@weft-consensus-%d-%d", time.Now().UnixNano(), at.Rank), nil
	}
	host := "127.0.0.1"
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && s.between && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			host = n.IP.String()
		}
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// gather returns the addresses of all ranks.
func gather(ctx context.Context, world *mpi.Comm, mine string) ([]string, error) {
	const most = 64
	src := make([]byte, most)
	copy(src, mine)
	dst := make([]byte, most*world.Size())
	if err := world.AllGather(ctx, mpi.Of(src), mpi.Of(dst)); err != nil {
		return nil, err
	}
	var all []string
	for each := range slices.Chunk(dst, most) {
		all = append(all, strings.TrimRight(string(each), "\x00"))
	}
	return all, nil
}

// lead waits until the cluster has a leader, and returns its rank.
func lead(ctx context.Context, server Server) int {
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if rank, ok := server.Leader(); ok {
			return rank
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nobody
		}
	}
}

// commit returns the median of n proposals, or nobody if one failed.
func commit(server Server, n int) float64 {
	micros := make([]float64, n)
	for i := -n / 4; i < n; i++ { // the first ones do not count
		begun := time.Now()
		if server.Propose() != nil {
			return nobody
		}
		if i >= 0 {
			micros[i] = float64(time.Since(begun).Nanoseconds()) / 1e3
		}
	}
	slices.Sort(micros)
	return micros[n/2]
}
