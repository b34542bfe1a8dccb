package services

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/tidwall/redcon"
)

// keep is a server of Redis' protocol with GET and SET.
func keep() func(redcon.Conn, redcon.Command) {
	var kept sync.Map
	return func(c redcon.Conn, cmd redcon.Command) {
		switch name := string(cmd.Args[0]); {
		case (name == "set" || name == "SET") && len(cmd.Args) >= 3:
			kept.Store(string(cmd.Args[1]), string(cmd.Args[2]))
			c.WriteString("OK")
		case (name == "get" || name == "GET") && len(cmd.Args) == 2:
			if v, ok := kept.Load(string(cmd.Args[1])); ok {
				c.WriteBulkString(v.(string))
			} else {
				c.WriteNull()
			}
		default:
			c.WriteError("ERR what is " + name + "?")
		}
	}
}

// TestRedisPipeline: go-redis sends a thousand commands before it reads the first answer, which needs both
// directions at once.
func TestRedisPipeline(t *testing.T) {
	l, dial := listen(t)
	go redcon.Serve(l, keep(), func(redcon.Conn) bool { return true }, nil)
	client := redis.NewClient(&redis.Options{
		Addr: "weft", Protocol: 2, DisableIdentity: true, MaxRetries: -1,
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	})
	defer client.Close()
	const n = 1000
	value := func(i int) string { return fmt.Sprintf("%0*d", i, i) }
	for _, tx := range []bool{false, true} {
		answers, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			for i := range n {
				if !tx {
					p.Set(t.Context(), fmt.Sprint("key", i), value(i), 0)
				} else {
					p.Get(t.Context(), fmt.Sprint("key", i))
				}
			}
			return nil
		})
		if err != nil || len(answers) != n {
			t.Fatalf("%d answers, %v", len(answers), err)
		}
		for i, a := range answers {
			if got, ok := a.(*redis.StringCmd); ok && got.Val() != value(i) {
				t.Fatalf("key %d has %d bytes", i, len(got.Val()))
			}
		}
	}
	if err := client.Get(t.Context(), "nothing").Err(); err != redis.Nil {
		t.Errorf("a key that nobody has set: %v", err)
	}
}
