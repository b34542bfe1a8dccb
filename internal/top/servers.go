package top

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"weft/internal/control"
	"weft/internal/counters"
	"weft/stream"
)

// A Server is an address at which a process listens for streams.
type Server struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Time    time.Time `json:"time"` // when it has said so
	stream.Stats
	Conns []*Conn `json:"conns"` // open ones, those with the most bytes first; at most a thousand
}

// A Conn is one open connection of a server.
type Conn struct {
	stream.ConnStats
	Command string        `json:"command,omitempty"` // of the process at the other end, if it can be known here
	Age     time.Duration `json:"age_ns"`
	In      float64       `json:"in"`  // bytes read a second since the sample before; below 0: unknown
	Out     float64       `json:"out"` // bytes written
	By      string        `json:"by"`  // what carries what the server writes: memory, socket or TLS
}

// Servers asks the processes that listen for streams. A pid other than 0 selects one. The error is about a process that
// did not answer.
func Servers(pid int) (servers []*Server, err error) {
	told, err := control.Ask[stream.ProcessStats](control.Streams, pid)
	now := time.Now()
	for _, a := range told {
		sees := samePIDs(a.PID)
		for _, s := range a.Value.Streams {
			if s.Dialled {
				continue
			}
			k := &Server{PID: a.PID, Program: counters.Printable(a.Value.Program), Time: now, Stats: s}
			for _, c := range s.Conns {
				conn := &Conn{ConnStats: c, Age: now.Sub(c.Opened), In: -1, Out: -1, By: "socket"}
				switch {
				case s.Network == "tcp":
					conn.By = "TLS"
				case c.Memory:
					conn.By = "memory"
				}
				if sees && c.Peer.PID > 0 {
					conn.Command = command(c.Peer.PID)
				}
				k.Conns = append(k.Conns, conn)
			}
			k.Stats.Conns = nil
			servers = append(servers, k)
		}
	}
	return servers, err
}

// samePIDs reports whether process numbers mean the same to a process and here.
func samePIDs(pid int) bool {
	there, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/pid")
	here, bad := os.Readlink("/proc/self/ns/pid")
	return err == nil && bad == nil && there == here
}

// command returns what a process is called.
func command(pid int) string {
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return strings.TrimSpace(string(name))
}

// since adds the rates since an earlier sample.
func (k *Server) since(before *Sample) {
	type name struct {
		remote string
		opened int64
	}
	for _, o := range before.Servers {
		if o.PID != k.PID || o.Address != k.Address {
			continue
		}
		old := map[name]*Conn{}
		for _, c := range o.Conns {
			old[name{c.Remote, c.Opened.UnixNano()}] = c
		}
		seconds := k.Time.Sub(o.Time).Seconds()
		for _, c := range k.Conns {
			if was := old[name{c.Remote, c.Opened.UnixNano()}]; was != nil && seconds > 0 {
				c.In = per(c.Read, was.Read, seconds)
				c.Out = per(c.Written, was.Written, seconds)
			}
		}
	}
}

// Title says which server it is, and what it has counted.
func (k *Server) Title() string {
	return fmt.Sprintf("server %d: %s, streams at %s: %d open of %d, %d refused, %d failed, read %sB, written %sB",
		k.PID, k.Program, counters.Printable(k.Address), k.Open, k.Made, k.Refused, k.Failed, size(float64(k.Read)),
		size(float64(k.Written)))
}

// Lines returns what is told below the connections.
func (k *Server) Lines() (lines []string) {
	if n := k.Open - len(k.Conns); n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more connections", n))
	}
	if k.Last != "" {
		lines = append(lines, "refused or failed last: "+counters.Printable(k.Last))
	}
	return lines
}

// whole prints a number without a fraction.
func whole(v float64) string { return fmt.Sprintf("%.0f", v) }

var connColumns = []column[*Conn]{
	number("peer", func(c *Conn) float64 { return float64(c.Peer.PID) }, whole),
	number("uid", func(c *Conn) float64 { return float64(c.Peer.UID) }, whole),
	words("command", func(c *Conn) string { return c.Command }),
	words("remote", func(c *Conn) string { return c.Remote }),
	number("age", func(c *Conn) float64 { return c.Age.Seconds() },
		func(v float64) string { return time.Duration(v * 1e9).Round(time.Second).String() }),
	number("read", func(c *Conn) float64 { return float64(c.Read) }, size),
	number("written", func(c *Conn) float64 { return float64(c.Written) }, size),
	number("readB/s", func(c *Conn) float64 { return c.In }, size),
	number("writtenB/s", func(c *Conn) float64 { return c.Out }, size),
	number("queued", func(c *Conn) float64 { return float64(c.Queued) }, size),
	number("waiting", func(c *Conn) float64 { return float64(c.Waiting) }, size),
	number("full", func(c *Conn) float64 { return float64(c.Full) }, count),
	number("slept", func(c *Conn) float64 { return float64(c.Sleeps) }, count),
	words("by", func(c *Conn) string { return c.By }),
}
