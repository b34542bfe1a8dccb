package stream

import (
	"errors"
	"net"
)

// A RankListener is a net.Listener for connections that ranks of the job dial, this rank included.
// Any number of goroutines may call its methods at the same time.
type RankListener struct {
	n       *Network
	backlog backlog
}

// Listen returns the listener of the network. A network has at most one at a time. Connections that
// ranks have dialled before wait for it.
func (n *Network) Listen() (*RankListener, error) {
	n.mu.Lock()
	if n.closing || n.listener != nil {
		err := net.ErrClosed
		if !n.closing {
			err = errors.New("the network has a listener already")
		}
		n.mu.Unlock()
		return nil, &net.OpError{Op: "listen", Net: "weft", Addr: n.Addr(), Err: err}
	}
	l := &RankListener{n: n}
	l.backlog.init(n.most)
	n.listener = l
	n.deaf = false
	n.mu.Unlock()
	n.admit()
	return l, nil
}

// admit gives the listener as many of the waiting connections as its backlog has room for.
func (n *Network) admit() {
	for {
		n.mu.Lock()
		l := n.listener
		if l == nil || len(n.opens) == 0 || l.backlog.full() {
			n.mu.Unlock()
			return
		}
		c := n.opens[0]
		n.opens[0] = nil
		n.opens = n.opens[1:]
		n.mu.Unlock()
		if c.accept() && !l.backlog.put(c) {
			c.Close()
		}
	}
}

// Accept waits for the next connection, a *RankConn. After Close the error is net.ErrClosed.
func (l *RankListener) Accept() (net.Conn, error) {
	c, _ := l.backlog.accept()
	if c == nil {
		return nil, &net.OpError{Op: "accept", Net: "weft", Addr: l.Addr(), Err: net.ErrClosed}
	}
	l.n.admit()
	return c, nil
}

// Close ends the listening: dials of ranks are refused from now on. It closes the connections that
// Accept has not returned; the connections that it has returned stay open.
func (l *RankListener) Close() error {
	if !l.backlog.close() {
		return &net.OpError{Op: "close", Net: "weft", Addr: l.Addr(), Err: net.ErrClosed}
	}
	n := l.n
	n.mu.Lock()
	opens := n.opens
	n.opens = nil
	n.listener = nil
	n.deaf = true
	n.mu.Unlock()
	for _, c := range opens {
		c.refuse()
	}
	return nil
}

// Addr returns the address of this rank, a [RankAddr].
func (l *RankListener) Addr() net.Addr { return l.n.Addr() }
