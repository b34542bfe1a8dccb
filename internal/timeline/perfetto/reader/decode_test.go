package reader

import "testing"

// FuzzDecode: whatever a file has in it, reading it ends with an error or a trace.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x0a, 0x02, 0x50, 0x01})
	f.Add([]byte("\x0a\x0a\x52\x08\x08\x01\x12\x04rank"))
	f.Fuzz(func(t *testing.T, b []byte) {
		trace, err := Decode(b)
		if err != nil {
			return
		}
		_ = trace.Check()
		_ = trace.Flows()
		_ = trace.String()
	})
}
