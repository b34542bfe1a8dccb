package fabric

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A FileError reports a line of a file that is not understood, or that describes something impossible.
type FileError struct {
	File   string
	Line   int    // from 1 on
	Reason string // in words
}

func (e *FileError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// maxLine bounds a line of a network file. No valid line is nearly as long.
const maxLine = 4096 // bytes

// Parse reads a file of links; name is for errors. Every line is one of
//
//	switch NAME PORTS
//	host NAME SWITCH:PORT
//	link SWITCH:PORT SWITCH:PORT
//
// or empty. A # starts a comment. Ports are counted from 0. A switch must come before the lines that link it. Hosts
// are numbered in the order of their lines.
func Parse(file string, r io.Reader) (*Network, error) {
	n := New()
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, maxLine), maxLine)
	number := 0
	for lines.Scan() {
		number++
		text, _, _ := strings.Cut(lines.Text(), "#")
		if err := n.parseLine(strings.Fields(text)); err != nil {
			return nil, &FileError{File: file, Line: number, Reason: err.Error()}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &FileError{File: file, Line: number + 1,
			Reason: fmt.Sprintf("a line has at most %d bytes", maxLine)}
	case err != nil:
		return nil, err
	case len(n.Hosts) == 0:
		return nil, &FileError{File: file, Line: number,
			Reason: "the file ends without a host: write host NAME SWITCH:PORT"}
	}
	return n, nil
}

// lineForms are the three forms of a line, for errors.
const lineForms = "switch NAME PORTS, host NAME SWITCH:PORT or link SWITCH:PORT SWITCH:PORT"

// parseLine adds what a line says, or returns an error that says what is wrong with it. The switches that a line
// names must have been named before.
func (n *Network) parseLine(words []string) error {
	switch {
	case len(words) == 0:
		return nil
	case len(words) != 3:
		return conflict("%d words, and not 3: a line is %s", len(words), lineForms)
	}
	switch words[0] {
	case "switch":
		ports, err := strconv.Atoi(words[2])
		if err != nil {
			return conflict("%q is no number of ports", words[2])
		}
		_, err = n.AddSwitch(words[1], ports)
		return err
	case "host":
		at, err := n.parsePort(words[2])
		if err != nil {
			return err
		}
		if link := n.LinkAt(at); link != NoLink {
			return conflict("%s has a link already", words[2])
		}
		host, err := n.AddHost(words[1])
		if err != nil {
			return err
		}
		_, err = n.Connect(AtHost(host), at)
		return err
	case "link":
		a, err := n.parsePort(words[1])
		if err != nil {
			return err
		}
		b, err := n.parsePort(words[2])
		if err != nil {
			return err
		}
		_, err = n.Connect(a, b)
		return err
	}
	return conflict("%q is not known: a line is %s", words[0], lineForms)
}

// parsePort returns the port with a name such as s0:7.
func (n *Network) parsePort(text string) (End, error) {
	name, digits, ok := strings.Cut(text, ":")
	if !ok {
		return End{}, conflict("%q names no port: write SWITCH:PORT", text)
	}
	sw, known := n.switches[name]
	if !known {
		return End{}, conflict("there is no switch %q so far: write switch %s PORTS before", name, name)
	}
	port, err := strconv.Atoi(digits)
	if err != nil || port < 0 || port >= len(n.Switches[sw].Ports) {
		return End{}, conflict("switch %s has no port %q: it has %d, from 0 on", name, digits, len(n.Switches[sw].Ports))
	}
	return At(sw, port), nil
}

// FindLink returns the link at an end, given as SWITCH:PORT or as the name of a host.
func (n *Network) FindLink(text string) (int, error) {
	var at End
	if host, ok := n.hosts[text]; ok {
		at = AtHost(host)
	} else {
		var err error
		if at, err = n.parsePort(text); err != nil {
			return NoLink, err
		}
	}
	if link := n.LinkAt(at); link != NoLink {
		return link, nil
	}
	return NoLink, conflict("there is no link at %s", text)
}

// WriteTo writes the network in the format that Parse reads. It leaves out links that are down and hosts without a
// link.
func (n *Network) WriteTo(w io.Writer) (int64, error) {
	out := &counter{w: bufio.NewWriter(w)}
	for _, s := range n.Switches {
		out.printf("switch %s %d\n", s.Name, len(s.Ports))
	}
	for i, h := range n.Hosts {
		if at, ok := n.Home(i); ok {
			out.printf("host %s %s\n", h.Name, n.EndName(at))
		}
	}
	for i := range n.Links {
		if l := &n.Links[i]; !l.Down && !l.A.IsHost() && !l.B.IsHost() {
			out.printf("link %s %s\n", n.EndName(l.A), n.EndName(l.B))
		}
	}
	return out.n, errors.Join(out.err, out.w.Flush())
}

// A counter counts the bytes written, and keeps the first error.
type counter struct {
	w   *bufio.Writer
	n   int64
	err error
}

// printf writes and counts the bytes. After a failure it keeps the first error.
func (c *counter) printf(format string, args ...any) {
	n, err := fmt.Fprintf(c.w, format, args...)
	c.n += int64(n)
	if c.err == nil {
		c.err = err
	}
}
