package weft

import (
	"encoding/json"
	"fmt"
)

// A card tells peers how to reach a process. It is published as one line of JSON.
type card struct {
	Host  string
	Life  uint64 // the process's incarnation
	Shm   string `json:",omitempty"`
	Eth   string `json:",omitempty"`
	Udp   string `json:",omitempty"`
	Tcp   string `json:",omitempty"`
	NoShm string `json:",omitempty"` // why there is no Shm

	Guard   Guard  `json:",omitempty"` // Config.Guard
	Segment string `json:",omitempty"` // the address of UDP and TCP, and the length of its network's prefix
}

func (c card) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(text)
}

func parseCard(text string) (c card, err error) {
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, fmt.Errorf("weft: its card cannot be read: %w", err)
	}
	return c, nil
}
