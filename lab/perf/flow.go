package perf

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"weft"
)

// A Flow is what a flow control does where two ranks send to one whose program is slow: one line of -json.
type Flow struct {
	Test      string  `json:"test"` // "flow"
	Control   string  `json:"control"`
	Transport string  `json:"transport"`
	Size      int     `json:"size"`
	Messages  int     `json:"messages"`            // of both senders
	Time      float64 `json:"us_per_message"`      // until the receiver had all
	Packets   float64 `json:"packets_per_message"` // that all three ranks have sent
	Bytes     float64 `json:"bytes_per_message"`   // in these packets
	Refused   float64 `json:"refused_per_message"`
	Error     string  `json:"error,omitempty"`
}

// The receiver of MeasureFlow has room for flowRoom bytes.
const (
	flowRoom = 128 << 10
	flowPort = 2
)

// flowWork is how long its program works for after a message: longer than the message takes on a network of 10 Gb/s.
func flowWork(size int) time.Duration { return 20*time.Microsecond + 3*time.Duration(size) }

// flowEach is how many messages each sender sends: enough to fill the receiver's buffer.
func flowEach(size int) int { return max(flowRoom/max(size, 64), 16) }

// MeasureFlow measures one flow control with messages of one size: between real ranks, or in the simulator ("sim").
func MeasureFlow(ctx context.Context, control, transport string, size int) Flow {
	r := Flow{Test: "flow", Control: control, Transport: transport, Size: size}
	s := Spec{Test: "flow", Op: control, Transport: transport, Sizes: []int{size}, N: 3}
	var samples []Sample
	var err error
	if transport == "sim" {
		_, err = weft.Simulate(ctx, weft.Cluster{Ranks: s.N}, func(ctx context.Context, p *weft.Proc) error {
			got, err := flowRank(ctx, p, s)
			if got != nil {
				samples = append(samples, Sample{Flow: got})
			}
			return err
		})
	} else {
		samples, err = runRanks(ctx, "weft", s.N, s)
	}
	switch {
	case err != nil:
		r.Error = err.Error()
	case len(samples) != 1 || samples[0].Flow == nil:
		r.Error = "rank 0 printed no figures"
	default:
		got := samples[0].Flow
		got.Test = r.Test
		got.Control = control
		got.Transport = transport
		return *got
	}
	return r
}

// flowRank is the part of one rank in MeasureFlow. It returns the figures at rank 0.
func flowRank(ctx context.Context, p *weft.Proc, s Spec) (*Flow, error) {
	size := s.Sizes[0]
	flow := weft.FlowControl(slices.Index(weft.FlowControls(), s.Op))
	q, err := p.OpenPort(flowPort, &weft.PortConfig{RecvBuffer: flowRoom, SendBuffer: flowRoom, Flow: flow})
	if err != nil {
		return nil, err
	}
	defer q.Close()
	each := flowEach(size)
	meet := func() error { return p.Barrier("flow", nil).Wait(ctx) }
	if err := meet(); err != nil {
		return nil, err
	}
	before := p.Stats()
	start := p.Now()
	if p.Rank() > 0 {
		for range each {
			if err := q.Send(ctx, 0, make([]byte, size)); err != nil {
				return nil, err
			}
		}
		err = q.Flush(ctx)
	} else {
		err = flowReceive(ctx, p, q, (p.Size()-1)*each, flowWork(size))
	}
	if err != nil {
		return nil, err
	}
	took := p.Now() - start
	after := p.Stats()
	if err := meet(); err != nil {
		return nil, err
	}
	counts := []uint64{after.PacketsSent - before.PacketsSent, after.BytesSent - before.BytesSent}
	if p.Rank() > 0 {
		b := binary.LittleEndian.AppendUint64(nil, counts[0])
		return nil, q.Send(ctx, 0, binary.LittleEndian.AppendUint64(b, counts[1]))
	}
	for range p.Size() - 1 {
		m, err := q.Recv(ctx)
		if err != nil {
			return nil, err
		}
		counts[0] += binary.LittleEndian.Uint64(m.Data)
		counts[1] += binary.LittleEndian.Uint64(m.Data[8:])
		m.Release()
	}
	n := float64(2 * each)
	return &Flow{
		Size: size, Messages: 2 * each, Time: took.Seconds() * 1e6 / n, Packets: float64(counts[0]) / n,
		Bytes: float64(counts[1]) / n, Refused: float64(after.Refused-before.Refused) / n,
	}, nil
}

// flowReceive is the slow receiver.
func flowReceive(ctx context.Context, p *weft.Proc, q *weft.Port, messages int, work time.Duration) error {
	for i := range messages {
		m, err := q.Recv(ctx)
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		m.Release()
		if err := p.Sleep(ctx, work); err != nil {
			return err
		}
	}
	return nil
}
