package services

import (
	"context"
	"io"
	"net"
)

// connectProtocol is a request for each connection: to connect, 64 bytes there and back, and to close.
var connectProtocol = Protocol{
	Name: "connect", What: "connect, 64 bytes, close", Bytes: 64,
	Serve: func(l net.Listener) error {
		for {
			c, err := l.Accept()
			if err != nil {
				return err
			}
			go func() {
				defer c.Close()
				_, _ = io.CopyN(c, c, 64)
			}()
		}
	},
	Clients: func(n int, dial Dial) (request []func() error, end func(), err error) {
		return OpenClients(n, func() (func() error, func() error, error) {
			return func() error { return connectOnce(dial) }, func() error { return nil }, nil
		})
	},
}

func connectOnce(dial Dial) error {
	c, err := dial(context.Background())
	if err != nil {
		return err
	}
	defer c.Close()
	body := EchoBody()
	if _, err := c.Write(body); err != nil {
		return err
	}
	answer := make([]byte, len(body))
	if _, err := io.ReadFull(c, answer); err != nil {
		return err
	}
	return CheckEcho(answer, body)
}
