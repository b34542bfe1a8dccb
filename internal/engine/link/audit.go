package link

import "fmt"

// Unfinished says what the link still has to do, or "".
func (c *Conn) Unfinished() string {
	if c.send.base == c.send.tail {
		return ""
	}
	state := ""
	if c.send.mode == stopped {
		state = ", told to stop"
	}
	return fmt.Sprintf("%d packets from number %d on are not acknowledged%s", c.send.tail-c.send.base, c.send.base, state)
}
