package fabric

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"weft/fabric/internal/ofi"
	"weft/internal/doorbell"
	"weft/internal/handshake"
	"weft/internal/join"
	"weft/internal/sys"
	"weft/internal/transport"
)

func init() { join.Fabric = open }

// Transport implements transport.Transport.
type Transport struct {
	transport.Steady
	transport.Network

	cfg      join.FabricConfig
	listener *net.TCPListener
	door     handshake.Acceptor
	serving  sync.WaitGroup // the door, the readers of connections, and the watch
	alarm    *doorbell.Alarm
	done     chan struct{} // closed by Close
	watching *sys.Waiter   // on which the watch sleeps
	peers    transport.PeerTable[peer]

	mu                sync.Mutex // of everything below, and held while libfabric is called
	closed            bool       // Close has begun
	freed             bool       // it has ended: libfabric must not be called any more
	end               *ofi.Endpoint
	slots             slots
	sending           sending
	in                receiving
	duty              duty
	met               []*peer // all of the table
	conns             map[net.Conn]struct{}
	reach             reaching
	offers, retracted map[uint32]*offer
}

// open is join.Fabric.
func open(cfg join.FabricConfig) (transport.Transport, error) {
	t, err := Open(cfg)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Open opens an endpoint of the best provider that there is, and listens for peers.
func Open(cfg join.FabricConfig) (*Transport, error) {
	at, err := net.ResolveTCPAddr("tcp", cfg.Bind)
	if err != nil {
		return nil, fmt.Errorf("weft: fabric: %w", err)
	}
	if err := sys.CheckBind(at.AddrPort().Addr()); err != nil {
		return nil, fmt.Errorf("weft: fabric: bind address %q: %w", cfg.Bind, err)
	}
	end, err := choose(cfg, at.IP.String())
	if err != nil {
		return nil, fmt.Errorf("weft: fabric: %w", err)
	}
	t := &Transport{
		cfg: cfg, end: end, done: make(chan struct{}), conns: map[net.Conn]struct{}{},
		offers: map[uint32]*offer{}, retracted: map[uint32]*offer{},
	}
	if err := t.start(at); err != nil {
		t.free()
		return nil, fmt.Errorf("weft: fabric: %w", err)
	}
	return t, nil
}

// start gives the endpoint its buffers, and begins to listen.
func (t *Transport) start(at *net.TCPAddr) (err error) {
	if t.watching, err = sys.NewWaiter(); err != nil {
		return err
	}
	if err := t.slots.open(t.end); err != nil {
		return err
	}
	t.sending.open(&t.slots)
	t.in.open(&t.slots, t.cfg.Size)
	t.reach.open()
	t.post()
	if t.end.FD >= 0 {
		if t.alarm, err = doorbell.NewAlarm(t.cfg.Bell, t.end.FD); err != nil {
			return err
		}
	}
	if t.listener, err = net.ListenTCP("tcp", at); err != nil {
		return err
	}
	t.door.Limit = handshake.Room(t.cfg.Size)
	t.door.Handshake = t.enter
	t.serving.Go(func() { t.door.Serve(t.listener.Accept) })
	t.serving.Go(t.watch)
	return nil
}

// Caps says what libfabric's reliable endpoints can do.
func (t *Transport) Caps() transport.Caps {
	return transport.Caps{
		Name: "fabric", MTU: mtu, Reliable: true, Beats: true,
		Guards: "strangers that connect; for the rest the provider's own checks",
	}
}

// Card is the address at which we listen, and the provider that a peer must have as well.
func (t *Transport) Card() string { return t.listener.Addr().String() + " " + t.end.Provider.Name }

// PeerMTU returns the longest packet.
func (t *Transport) PeerMTU(peer int) int { return mtu }

// Path returns the provider and its device.
func (t *Transport) Path(peer int) string { return t.end.Provider.String() }

// MemoryBytes returns what the buffers hold.
func (t *Transport) MemoryBytes() uint64 { return uint64(t.slots.arena.Size() + t.end.Size()) }

// Forget ends the connections to a peer, which tells it.
func (t *Transport) Forget(rank int) {
	if p := t.peers.Get(rank); p != nil {
		t.mu.Lock()
		p.state = gone
		t.mu.Unlock()
		t.hangUp(p)
	}
}

// leavePatience is how long Close waits until peers have received what was sent to them.
const leavePatience = 500 * time.Millisecond

// Close tells the peers how much was sent to each, waits for a moment until they have it, and ends everything.
func (t *Transport) Close() error {
	t.mu.Lock()
	was := t.closed
	t.closed = true
	left := make([]*peer, 0, len(t.met))
	for _, p := range t.met {
		if p.state == ready {
			left = append(left, p)
		}
	}
	t.mu.Unlock()
	if was {
		return nil
	}
	t.takeLeave(left)
	close(t.done)
	t.watching.Wake()
	t.listener.Close()
	t.mu.Lock()
	for c := range t.conns {
		c.Close()
	}
	t.mu.Unlock()
	t.serving.Wait()
	if t.alarm != nil {
		t.alarm.Close()
	}
	t.free()
	return nil
}

// free gives the endpoint back, and then its buffers.
func (t *Transport) free() {
	if t.listener != nil {
		t.listener.Close()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.freed = true
	if t.watching != nil {
		t.watching.Close()
	}
	t.end.Close(t.registrations()...)
	if t.slots.arena != nil {
		t.slots.arena.Close()
	}
}

// takeLeave waits until peers have received what was sent to them, or leavePatience has passed.
func (t *Transport) takeLeave(left []*peer) {
	late := make(chan struct{})
	defer handshake.After(leavePatience, sync.OnceFunc(func() { close(late) }))()
	for _, p := range left {
		p.sayLeaving(t)
	}
	for _, p := range left {
		t.until(late, func() bool {
			select {
			case <-p.answered:
				return true
			default:
				return p.state == gone
			}
		})
	}
}

// Pauses of a goroutine that looks again and again.
const (
	shortest = 20 * time.Microsecond
	longest  = time.Millisecond
)

// timers are stopped timers: no access to a peer's memory allocates.
var timers = sync.Pool{New: func() any { return time.NewTimer(longest) }}

var errLate = errors.New("weft: fabric: the peer has not answered in time")

// until makes the provider go on until a condition holds, which is looked at under the lock, or late is closed.
func (t *Transport) until(late <-chan struct{}, cond func() bool) error {
	timer := timers.Get().(*time.Timer)
	defer timers.Put(timer)
	defer timer.Stop()
	for pause := shortest; ; pause = min(2*pause, longest) {
		t.mu.Lock()
		if t.freed {
			t.mu.Unlock()
			return net.ErrClosed
		}
		t.harvest(1)
		ok := cond()
		ring := t.in.arrived.n > 0
		t.mu.Unlock()
		if ring {
			t.cfg.Bell.Ring() // the node may sleep, and nothing else tells it of what has just been taken
		}
		if ok {
			return nil
		}
		timer.Reset(pause)
		select {
		case <-late:
			return errLate
		case <-t.done:
			return net.ErrClosed
		case <-timer.C:
		}
	}
}
