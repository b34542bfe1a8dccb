package rendezvous

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"weft/failure"
	"weft/internal/bootstrap"
	"weft/internal/handshake"
	"weft/internal/sys"
)

// Config says what a store serves.
type Config struct {
	Job    bootstrap.Job    // without an ID, a secret and hosts, which the store finds
	Member bootstrap.Member // rank 0's own
	Secret []byte           // by which ranks recognize each other
	Notice func(string)     // is told what the user should know
}

// A Store is what rank 0 serves: it gathers the ranks, keeps what they put, and tells of
// ranks that end.
type Store struct {
	cfg      Config
	gather   *bootstrap.Gathering
	listener net.Listener
	door     handshake.Acceptor
	noticed  atomic.Bool // that somebody does not know the secret
}

// Serve begins to serve on a listener, which the store owns from now on.
func Serve(l net.Listener, cfg Config) *Store {
	s := &Store{cfg: cfg, listener: l, gather: bootstrap.NewGathering(cfg.Job, cfg.Member.Label, cfg.Notice)}
	s.door.Limit = handshake.Room(cfg.Job.Size)
	s.door.Handshake = s.welcome
	go s.door.Serve(l.Accept)
	return s
}

// Address returns the address at which the store listens.
func (s *Store) Address() net.Addr { return s.listener.Addr() }

// welcome lets a rank in.
func (s *Store) welcome(v *handshake.Attempt) error {
	said, err := v.Answer(protocol, func(dialler, listener uint32) (handshake.Pair, error) {
		if listener != 0 || dialler >= uint32(maxSize) {
			return handshake.Pair{}, handshake.ErrStranger
		}
		return s.pair(dialler), nil
	})
	if errors.Is(err, handshake.ErrStranger) && !s.noticed.Swap(true) {
		s.cfg.Notice(fmt.Sprintf("somebody at %v does not know the job's secret, and is not let in: a stranger, or a rank "+
			"with another WEFT_SECRET or WEFT_SECRET_FILE than rank 0", v.Conn.RemoteAddr()))
	}
	if err != nil {
		return err
	}
	if _, err := v.Conn.Write(said.Last(handshake.Accepted)); err != nil {
		return err
	}
	c := newStream(v.Conn, said.Session, false)
	visitor := &bootstrap.Visitor{Conn: c, At: ip(v.Conn.LocalAddr())}
	if err := visitor.Hear(); err != nil {
		return err
	}
	if err := v.Admit(); err != nil {
		return err
	}
	watch(v.Conn, s.cfg.Job.Liveness)
	go func() { _ = s.gather.Serve(visitor) }()
	return nil
}

// maxSize is more ranks than any job has.
const maxSize = 1 << 24

func (s *Store) pair(dialler uint32) handshake.Pair {
	return handshake.Pair{Secret: s.cfg.Secret, Dialler: dialler}
}

// Join makes rank 0 itself a rank of the job, and returns when all have joined. The error
// when ctx ends names the ranks that are missing.
func (s *Store) Join(ctx context.Context) (*bootstrap.Launched, error) {
	here, there := net.Pipe()
	visitor := &bootstrap.Visitor{Conn: there}
	go func() {
		if visitor.Hear() == nil {
			_ = s.gather.Serve(visitor) // it has told the rank
		}
	}()
	found, err := bootstrap.Enter(ctx, here, s.cfg.Member)
	var missing *failure.MissingError
	if errors.As(err, &missing) {
		isSelf := func(rank int) bool { return rank == s.cfg.Member.Rank } // it may have left again by now
		missing.Ranks = slices.DeleteFunc(s.gather.Missing(), isSelf)
	}
	return found, err
}

// Server returns the server of the job, when Join has returned.
func (s *Store) Server() *bootstrap.Server { return s.gather.Server() }

// Over returns a channel that is closed when every rank has left the job, or died.
func (s *Store) Over() <-chan struct{} { return s.gather.Over() }

// Close ends the store at once, for all.
func (s *Store) Close() {
	s.listener.Close()
	s.gather.Close()
}

// watch makes the kernel end a connection whose other host has been silent for the liveness
// time, at least a second. The kernel asks every second or so, whether or not something is on its
// way to that host.
func watch(c net.Conn, liveness time.Duration) {
	const least = time.Second // the kernel counts in seconds, and a packet may be lost
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	if liveness < 0 {
		_ = tcp.SetKeepAlive(false) // without which it lasts all the longer
		return
	}
	silence := max(cmp.Or(liveness, bootstrap.DefaultLiveness), least)
	every := max(silence/3, least)
	_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: every, Interval: every, Count: 3})
	_ = sys.GiveUpAfter(tcp, silence) // else Count does it, where nothing is on its way
}

// ip returns the address of a host without its port.
func ip(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return ""
	}
	return host
}
