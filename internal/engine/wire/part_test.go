package wire

import (
	"bytes"
	"testing"
)

func TestPart(t *testing.T) {
	want := Part{Off: 1160, Total: 1400}
	b := append(want.Append(nil), make([]byte, 240)...)
	if got, rest, err := ParsePart(b); err != nil || got != want || len(rest) != 240 {
		t.Errorf("%+v with %d bytes: %v", got, len(rest), err)
	}
	if _, _, err := ParsePart(append(b, 0)); err == nil {
		t.Error("a part that ends behind its frame is taken")
	}
	for n := range PartSize {
		if _, _, err := ParsePart(b[:n]); err == nil {
			t.Errorf("%d bytes are taken", n)
		}
	}
	for _, i := range []int{0, 1, 6, 7} {
		bad := bytes.Clone(b)
		bad[i] = 1
		if _, _, err := ParsePart(bad); err == nil {
			t.Errorf("byte %d is not looked at", i)
		}
	}
}

func FuzzPart(f *testing.F) {
	f.Add(append(Part{Off: 1160, Total: 1400}.Append(nil), make([]byte, 240)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, rest, err := ParsePart(b)
		if err == nil && !bytes.Equal(append(p.Append(nil), rest...), b) {
			t.Errorf("%x became %+v", b, p)
		}
	})
}
