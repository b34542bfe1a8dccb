package pmi

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// PMI-1: one line of text for each message, "cmd=NAME key=value key=value". Keys come in any
// order, and servers add some: found=TRUE behind a value is one.

// maxLine bounds a line of the server.
const maxLine = 4096

// ask sends a line and returns the reply of that name.
func (c *Client) ask(request, reply string) (map[string]string, error) {
	if _, err := c.c.Write([]byte(request + "\n")); err != nil {
		return nil, err
	}
	return c.await(reply)
}

// await returns the next line of that name. The server says some things unasked: set.
func (c *Client) await(reply string) (map[string]string, error) {
	in := c.replies()
	for {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrProtocol, maxLine)
		}
		if err != nil {
			return nil, fmt.Errorf("weft: pmi: the process manager is gone: %w", err)
		}
		switch said := parseLine(string(text)); said["cmd"] {
		case reply:
			return said, nil
		case "set":
			if err := c.set(said); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%w: %.80q instead of %s", ErrProtocol, text, reply)
		}
	}
}

// parseLine returns the values of a line by their keys.
func parseLine(text string) map[string]string {
	said := map[string]string{}
	for _, word := range strings.Fields(text) {
		if key, value, ok := strings.Cut(word, "="); ok {
			said[key] = value
		}
	}
	return said
}

// failed returns an error if a reply says so.
func failed(what string, said map[string]string) error {
	if rc, ok := said["rc"]; ok && rc != "0" {
		return fmt.Errorf("%w %s (rc=%s %s)", ErrRefused, what, rc, said["msg"])
	}
	return nil
}

// identify says which process this is, where it has connected by itself, and hears its rank
// and how many there are.
func (c *Client) identify(id string) error {
	if _, err := strconv.Atoi(id); err != nil {
		return fmt.Errorf("weft: pmi: PMI_PORT is set, with PMI_ID=%q: must be a number", id)
	}
	if _, err := c.ask("cmd=initack pmiid="+id, "initack"); err != nil {
		return err
	}
	for c.rank < 0 || c.size < 0 {
		said, err := c.await("set")
		if err == nil {
			err = c.set(said)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// set takes a number that the server says unasked.
func (c *Client) set(said map[string]string) error {
	for key, at := range map[string]*int{"rank": &c.rank, "size": &c.size} {
		text, ok := said[key]
		if !ok {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%w: %s=%q", ErrProtocol, key, text)
		}
		*at = n
	}
	return nil
}

// offer offers version 1.1. The server may answer with a newer one of the same kind, which understands us. A process
// manager that speaks version 2 alone is not known.
func (c *Client) offer() error {
	said, err := c.ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init")
	if err == nil {
		err = failed("version 1", said)
	}
	if err == nil && said["pmi_version"] != "1" {
		err = fmt.Errorf("%w: it speaks version %.10q, not 1", ErrProtocol, said["pmi_version"])
	}
	return err
}

// findStore asks for the name of the store.
func (c *Client) findStore() error {
	said, err := c.ask("cmd=get_my_kvsname", "my_kvsname")
	if err == nil {
		err = failed("to name its store", said)
	}
	if err == nil && !plain(said["kvsname"]) {
		err = fmt.Errorf("%w: its store is %q", ErrProtocol, said["kvsname"])
	}
	c.space = said["kvsname"]
	c.job = cmp.Or(c.job, c.space)
	return err
}

// put publishes a value in the job's space. Others see it after the next fence.
func (c *Client) put(key, value string) error {
	said, err := c.ask("cmd=put kvsname="+c.space+" key="+key+" value="+value, "put_result")
	if err != nil {
		return err
	}
	return failed("to put "+key, said)
}

// get reads a value. Found is false if there is none: some servers say so by an error code, some by a field.
func (c *Client) get(key string) (value string, found bool, err error) {
	said, err := c.ask("cmd=get kvsname="+c.space+" key="+key, "get_result")
	if err != nil {
		return "", false, err
	}
	if failed("", said) != nil || said["found"] == "FALSE" {
		return "", false, nil //nolint:nilerr // servers differ in how they say that there is none
	}
	value, found = said["value"]
	return value, found, nil
}

// fence waits until all processes of the job have come to it.
func (c *Client) fence() error {
	said, err := c.ask("cmd=barrier_in", "barrier_out")
	if err != nil {
		return err
	}
	return failed("a barrier", said)
}

func (c *Client) finalize() error {
	_, err := c.ask("cmd=finalize", "finalize_ack")
	return err
}
