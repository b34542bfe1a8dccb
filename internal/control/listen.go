package control

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"strconv"
	"time"

	"weft/internal/sys"
)

// The kinds of questions.
const (
	Jobs    = "weft-job-"     // to the launcher of a job, or to rank 0
	Streams = "weft-streams-" // to a process that listens for streams
)

// Listen answers questions of one kind with what tell returns, until the returned function is called. The id is unique
// among the listeners of this kind in this process. If it cannot listen, the process is not found, and does no worse.
func Listen(kind string, id uint64, tell func() any) (stop func()) {
	l, err := net.Listen("unix", "@"+kind+strconv.Itoa(os.Getuid())+"-"+strconv.Itoa(os.Getpid())+"-"+
		strconv.FormatUint(id, 16))
	if err != nil {
		return func() {}
	}
	go accept(l, tell)
	return func() { l.Close() }
}

// accept answers questions until the listener is closed.
func accept(l net.Listener, tell func() any) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // out of descriptors, perhaps
			continue
		}
		go answer(c, tell)
	}
}

func answer(c net.Conn, tell func() any) {
	defer c.Close()
	if _, uid, err := peer(c); err != nil || uid != 0 && uid != os.Getuid() {
		return
	}
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_ = json.NewEncoder(c).Encode(tell())
}

// peer returns the process at the other end of a socket, and its user, from the kernel.
func peer(c net.Conn) (pid, uid int, err error) { return sys.Credentials(c.(*net.UnixConn)) }
