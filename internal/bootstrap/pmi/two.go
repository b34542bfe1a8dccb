package pmi

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// PMI-2: six characters with the length of what follows, in decimal and padded with blanks on
// either side, and "cmd=NAME;key=value;key=value;".

// A two is a server that speaks version 2.
type two struct{}

func (two) version() string { return "2.0" }

// headSize is how long the length of a message is.
const headSize = 6

// appendMessage appends a message.
func appendMessage(b []byte, body string) []byte {
	return append(fmt.Appendf(b, "%*d", headSize, len(body)), body...)
}

// readMessage reads one, and returns its values by their keys.
func readMessage(in io.Reader) (map[string]string, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, fmt.Errorf("weft: pmi: the process manager is gone: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(head[:])))
	if err != nil || n < 1 || n > maxLine {
		return nil, fmt.Errorf("%w: a message of %q bytes", ErrProtocol, head)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, fmt.Errorf("weft: pmi: the process manager is gone: %w", err)
	}
	said := map[string]string{}
	for part := range strings.SplitSeq(string(body), ";") {
		if key, value, ok := strings.Cut(part, "="); ok {
			said[key] = value
		}
	}
	return said, nil
}

// request sends a message, and returns the reply to it.
func (c *Client) request(cmd string, args ...string) (map[string]string, error) {
	body := "cmd=" + cmd + ";"
	for i := 0; i < len(args); i += 2 {
		body += args[i] + "=" + args[i+1] + ";"
	}
	if _, err := c.c.Write(appendMessage(nil, body)); err != nil {
		return nil, err
	}
	said, err := readMessage(c.replies())
	if err != nil {
		return nil, err
	}
	if said["cmd"] != cmd+"-response" {
		return nil, fmt.Errorf("%w: %.40q after %s", ErrProtocol, said["cmd"], cmd)
	}
	return said, failed(cmd, said)
}

// beginTwo names this process to the process manager by PMI-2. Slurm requires all of these keys;
// Hydra ignores keys that it does not need.
func (c *Client) beginTwo() error {
	c.speak = two{}
	args := []string{"pmirank", strconv.Itoa(c.rank), "threaded", "FALSE"}
	if c.job != "" {
		args = append([]string{"pmijobid", c.job}, args...)
	}
	said, err := c.request("fullinit", args...)
	if err != nil {
		return err
	}
	if err := c.set(said); err != nil {
		return err
	}
	said, err = c.request("job-getid")
	c.job = cmp.Or(said["jobid"], c.job)
	return err
}

func (two) put(c *Client, key, value string) error {
	_, err := c.request("kvs-put", "key", key, "value", value)
	return err
}

// get reads a value of any process of the job: srcid -1 means that its writer is not known.
func (two) get(c *Client, key string) (value string, found bool, err error) {
	said, err := c.request("kvs-get", "jobid", c.job, "srcid", "-1", "key", key)
	if err != nil || said["found"] != "TRUE" {
		return "", false, err
	}
	return said["value"], true, nil
}

func (two) fence(c *Client) error {
	_, err := c.request("kvs-fence")
	return err
}

func (two) finalize(c *Client) error {
	_, err := c.request("finalize")
	return err
}
