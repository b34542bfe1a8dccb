package join

import (
	"cmp"
	"fmt"
	"net"
	"os"

	"weft/internal/doorbell"
	"weft/internal/transport"
	"weft/internal/transport/eth"
	"weft/internal/transport/shm"
	"weft/internal/transport/tcp"
	"weft/internal/transport/udp"
)

// The transports, as Settings.Transport, Caps and Peer name them.
const (
	Auto    = "auto"
	shmName = "shm"
	ethName = "eth"
	udpName = "udp"
	tcpName = "tcp"
)

// A need says whether this process opens a transport.
type need uint8

const (
	unused   need = iota
	optional      // if it cannot be opened packets travel by another one
	required      // if it cannot be opened Join fails
)

// requiredIf returns required or unused.
func requiredIf(is bool) need {
	if is {
		return required
	}
	return unused
}

// openTransports opens what this process needs to reach the other ranks. The transports that are preferred come first.
// The doorbell comes before those that ring it, so that it is closed after them.
func (m *Member) openTransports() error {
	m.card.Segment = segment(m.bind())
	for _, step := range []struct {
		need func() need
		open func() error
		why  *string // takes the reason why an optional one is not there
	}{
		{m.needsShm, m.openShm, &m.card.NoShm},
		{m.needsPoll, m.openPoll, nil},
		{m.needsFabric, m.openFabric, &m.noFabric},
		{m.needsEth, m.openEth, &m.noEth},
		{m.needsTCP, m.openTCP, nil},
		{m.needsUDP, m.openUDP, nil},
	} {
		need := step.need()
		if need == unused {
			continue
		}
		if err := step.open(); err != nil {
			if need == required {
				return err
			}
			*step.why = err.Error()
		}
	}
	return nil
}

// use adds a transport that has been opened.
func (m *Member) use(t transport.Transport) {
	m.Transports = append(m.Transports, t)
	m.undo.add(func() error {
		t.Close()
		return nil
	})
}

func (m *Member) needsShm() need {
	switch m.Settings.Transport {
	case shmName:
		return required
	case Auto, ethName:
		if m.Job.Local > 1 || m.Job.Size == 1 {
			return optional
		}
	}
	return unused
}

func (m *Member) openShm() error {
	var t *shm.Transport
	opened := make(chan struct{}) // a peer may dial before Open has returned
	t, err := shm.Open(shm.Config{
		Rank: m.Job.Rank, Size: m.Job.Size, Job: m.Job.ID, Secret: m.Job.Secret, Liveness: max(m.Settings.Liveness, 0),
		Events: m.Node.Events(func() transport.Transport { <-opened; return t }), Own: m.AMT.Own(),
	})
	close(opened)
	if err != nil {
		return err
	}
	m.use(t)
	m.card.Shm = t.Card()
	m.bell = t.Doorbell()
	m.Memory.Memory = t.Memory()
	return nil
}

// needsPoll is about a doorbell, which otherwise lies in shared memory.
func (m *Member) needsPoll() need { return requiredIf(m.bell == nil) }

func (m *Member) openPoll() error {
	p, err := doorbell.NewPoll()
	if err != nil {
		return err
	}
	m.bell = p
	m.undo.add(func() error {
		p.Close()
		return nil
	})
	return nil
}

// between reports whether there are ranks on other hosts.
func (m *Member) between() bool { return m.Job.Size > m.Job.Local }

func (m *Member) needsEth() need {
	switch m.Settings.Transport {
	case ethName:
		return required
	case Auto:
		if m.Settings.Interface != "" && m.between() {
			return optional
		}
	}
	return unused
}

func (m *Member) openEth() error {
	s := &m.Settings
	if s.Interface == "" {
		return fmt.Errorf("weft: transport eth needs an interface: set Config.Interface or %s", EnvInterface)
	}
	t, err := eth.Open(eth.Config{
		Interface: s.Interface, EtherType: s.EtherType, MTU: s.MTU, Job: m.Job.ID, Rank: m.Job.Rank, Bell: m.bell,
		FramesOnly: s.GoBackN, NoSegment: switchedOff(EnvSegment), NoGRO: switchedOff(EnvGRO),
	})
	if err != nil {
		return err
	}
	m.use(m.spoilt(t))
	m.card.Eth = t.Card()
	m.eth = t
	return nil
}

func (m *Member) needsTCP() need { return requiredIf(m.Settings.Transport == tcpName) }

func (m *Member) openTCP() error {
	var t *tcp.Transport
	opened := make(chan struct{}) // a peer may dial before Open has returned
	t, err := tcp.Open(tcp.Config{
		Bind: m.bind(), Rank: m.Job.Rank, Size: m.Job.Size, Job: m.Job.ID, Secret: m.Job.Secret,
		Liveness: max(m.Settings.Liveness, 0), Bell: m.bell,
		Events: m.Node.Events(func() transport.Transport { <-opened; return t }), Encrypt: m.encrypts,
	})
	close(opened)
	if err != nil {
		return err
	}
	m.use(t)
	m.card.Tcp = t.Card()
	return nil
}

// needsUDP is about the transport for what no other one has been opened for.
func (m *Member) needsUDP() need {
	switch m.Settings.Transport {
	case ethName, tcpName, fabricName:
		return unused
	case udpName:
		return required
	}
	return requiredIf(m.between() || m.card.Shm == "" && m.Job.Size > 1)
}

func (m *Member) openUDP() error {
	t, err := udp.Open(udp.Config{
		Bind: m.bind(), MTU: m.Settings.MTU, Bell: m.bell, NoSegment: switchedOff(EnvSegment), NoGRO: switchedOff(EnvGRO),
	})
	if err != nil {
		return err
	}
	m.use(m.spoilt(t))
	m.card.Udp = t.Card()
	return nil
}

// switchedOff reports whether a variable of the environment is "off".
func switchedOff(name string) bool { return os.Getenv(name) == "off" }

// spoilt returns a transport with the faults that Settings ask for, or t itself.
func (m *Member) spoilt(t transport.Transport) transport.Transport {
	if m.Settings.Faults == nil {
		return t
	}
	return m.Settings.Faults(t, m.bell.Ring)
}

// bind returns the address for UDP and TCP, as "host:port"; port 0 means any.
func (m *Member) bind() string {
	host := m.Settings.Bind
	port := "0"
	if h, q, err := net.SplitHostPort(m.Settings.Bind); err == nil {
		host = h
		port = q
	}
	return net.JoinHostPort(cmp.Or(host, m.Job.Bind, "127.0.0.1"), port)
}
