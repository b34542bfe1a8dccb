package doorbell

import (
	"os"
	"testing"
	"time"

	"weft/internal/transport"
)

// An armed alarm rings once, whatever the doorbell, also if something waits
// already; one that is not armed does not.
func TestAlarm(t *testing.T) {
	for name, bell := range doorbells(t) {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			a, err := NewAlarm(bell, int(r.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			one := []byte{1}
			got := make([]byte, 1)
			for i := range 500 {
				bell.Set(transport.Asleep)
				early := i%2 == 0
				if early {
					w.Write(one)
				}
				a.Arm()
				if !early {
					go w.Write(one)
				}
				for bell.State() != transport.Awake {
					bell.Sleep(transport.Asleep, -1)
				}
				r.Read(got)
			}
			bell.Set(transport.Asleep)
			w.Write(one) // not armed
			if bell.Sleep(transport.Asleep, time.Millisecond); bell.State() == transport.Awake {
				t.Error("an alarm that was not armed rang")
			}
		})
	}
}
