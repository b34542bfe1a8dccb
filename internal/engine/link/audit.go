package link

import "fmt"

// Unfinished says what the link still has to do, or "".
func (c *Conn) Unfinished() string {
	if c.base == c.tail {
		return ""
	}
	state := ""
	if c.stopped {
		state = ", told to stop"
	}
	return fmt.Sprintf("%d packets from number %d on are not acknowledged%s", c.tail-c.base, c.base, state)
}
