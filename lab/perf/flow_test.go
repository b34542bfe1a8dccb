package perf

import (
	"os"
	"testing"

	"weft/internal/explore"
)

// Where the receiver is slow, all messages arrive with every flow control. Weft's own needs the fewest packets: an
// acknowledgement for each message doubles them where messages are short, and senders that do not know the room send
// long messages in vain.
func TestFlowControls(t *testing.T) {
	measure := func(control string, size int) Flow {
		f := MeasureFlow(t.Context(), control, "sim", size)
		if f.Error != "" || f.Messages != 2*flowEach(size) {
			t.Fatalf("%+v", f)
		}
		t.Logf("%+v", f)
		return f
	}
	for _, size := range []int{256, 64 << 10} {
		room := measure("room", size)
		for _, control := range []string{"acks", "nack", "stop"} {
			f := measure(control, size)
			if f.Packets < room.Packets || f.Refused < room.Refused || f.Refused == 0 {
				t.Errorf("%+v; room: %+v", f, room)
			}
			if each := control != "nack"; each && size < 64<<10 && f.Packets < room.Packets+0.5 {
				t.Errorf("%+v; room: %+v", f, room)
			}
		}
	}
}

// The figures of PM/Ethernet have a point for each length and line.
func TestEthernetFigures(t *testing.T) {
	if explore.Round() == 0 {
		t.Skip("it measures 22 points: WEFT_EXPLORE=1")
	}
	s := Spec{Transport: "udp", Sizes: []int{8, 1440}, Rounds: 1, Brief: true}
	points := MeasureEthernet(t.Context(), s, nil, func(int, string) {})
	want := 18
	if os.Geteuid() == 0 {
		want += 4 // ICMP and IP
	}
	if (bare{"frames"}).Supports(s.with(func(s *Spec) { s.Test = "bandwidth"; s.Op = "send" })) {
		want += 4 // the data link: both figures
	}
	if len(points) != want {
		t.Errorf("%d points, not %d", len(points), want)
	}
	for _, p := range points {
		if p.Error != "" || p.Value <= 0 {
			t.Errorf("%+v", p)
		}
	}
}
