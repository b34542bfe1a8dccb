package weftnats

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"weft/stream"
)

// TestClients: clients subscribe, publish and request over streams to a server that listens nowhere, and a client whose
// password is wrong is told so.
func TestClients(t *testing.T) {
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, Username: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := stream.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- Serve(l, s) }()
	connect := func(password string) (*nats.Conn, error) {
		return nats.Connect("nats://local", nats.SetCustomDialer(Dialer(path)), nats.UserInfo("u", password))
	}
	if c, err := connect("wrong"); err == nil {
		c.Close()
		t.Error("a wrong password does")
	}
	asks, err := connect("p")
	if err != nil {
		t.Fatal(err)
	}
	defer asks.Close()
	answers, err := connect("p")
	if err != nil {
		t.Fatal(err)
	}
	defer answers.Close()
	if _, err := answers.Subscribe("double", func(m *nats.Msg) { m.Respond(append(m.Data, m.Data...)) }); err != nil {
		t.Fatal(err)
	}
	if err := answers.Flush(); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		text := fmt.Sprint(i)
		if m, err := asks.Request("double", []byte(text), time.Minute); err != nil || string(m.Data) != text+text {
			t.Fatalf("%v, %v", m, err)
		}
	}
	l.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
