package stream_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"weft/stream"
)

// A web server, and a client of it: only where the connections come from is different.
func Example() {
	dir, err := os.MkdirTemp("", "weft")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "app.sock")

	l, err := stream.Listen(context.Background(), path)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello, %s", r.URL.Query().Get("name"))
	})}
	go server.Serve(l)
	defer server.Close()

	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return stream.Dial(ctx, path) },
	}}
	answer, err := client.Get("http://app/?name=world")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Println(string(text), err)
	// Output: hello, world <nil>
}
