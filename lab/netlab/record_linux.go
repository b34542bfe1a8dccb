package netlab

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"weft/internal/sys"
	"weft/lab/pcap"
)

// Record writes every frame that crosses the network to out, as a pcap file, until stop is called. Stop returns the
// errors of writing.
func (l *Lab) Record(out io.Writer) (stop func() error, err error) {
	w, err := pcap.NewWriter(out)
	if err != nil {
		return nil, err
	}
	var captures []*capture
	for _, h := range l.Hosts {
		err := sys.InNetwork(h.Namespace, func() error {
			ifc, err := net.InterfaceByName(Interface)
			if err != nil {
				return err
			}
			c, err := openCapture(ifc.Index)
			captures = append(captures, c)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var (
		mu     sync.Mutex
		failed error
		all    sync.WaitGroup
	)
	for _, c := range captures {
		all.Go(func() {
			b := make([]byte, pcap.MaxFrame)
			for {
				n, err := c.next(b)
				if err != nil {
					return // closed
				}
				mu.Lock()
				failed = errors.Join(failed, w.Write(time.Now(), b[:n]))
				mu.Unlock()
			}
		})
	}
	return func() error {
		for _, c := range captures {
			c.close()
		}
		all.Wait()
		return failed
	}, nil
}
