package join

import (
	"context"
	"encoding/json"
	"fmt"
)

// A Card tells peers how to reach a process. It is published as one line of JSON.
type Card struct {
	Host string
	Life uint64 // the process's incarnation
	Shm  string `json:",omitempty"`
	Eth  string `json:",omitempty"`
	Udp  string `json:",omitempty"`
	Tcp  string `json:",omitempty"`

	Fabric string `json:",omitempty"`

	NoShm string `json:",omitempty"` // why there is no Shm

	Guard   string `json:",omitempty"` // Settings.Guard
	Share   []byte `json:",omitempty"` // of the process in agreements on keys
	Segment string `json:",omitempty"` // the address of UDP and TCP, and the length of its network's prefix
}

// cardKey is the key under which each rank puts its card.
const cardKey = "card"

// String returns the card as a line of text.
func (c Card) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(text)
}

// CardOf returns the card of a rank. It waits until the rank has published it.
func (m *Member) CardOf(ctx context.Context, rank int) (c Card, err error) {
	text, err := m.Source.Get(ctx, rank, cardKey)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, fmt.Errorf("weft: the card of rank %d cannot be read: %w", rank, err)
	}
	return c, nil
}
