package vmmc_test

import (
	"context"
	"testing"

	"weft"
	"weft/vmmc"
)

// BenchmarkSend8 is what a send of 8 bytes costs its sender where the export is mapped, and BenchmarkPush8 a PUSH.
func BenchmarkSend8(b *testing.B) { send8(b, true) }

func BenchmarkPush8(b *testing.B) { send8(b, false) }

func send8(b *testing.B, imported bool) {
	err := weft.Local(b.Context(), 1, func(ctx context.Context, p *weft.Proc) error {
		e, err := vmmc.Open(p, 7, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		if _, err := e.Export(ctx, "in", 64, nil); err != nil {
			return err
		}
		i, err := e.Import(ctx, 0, "in")
		if err != nil {
			return err
		}
		r, err := p.AttachRegion(ctx, 0, "vmmc/7/1")
		if err != nil {
			return err
		}
		word := make([]byte, 8)
		for b.Loop() {
			if imported {
				err = i.Send(ctx, 0, word)
			} else {
				err = r.Push(ctx, 0, word)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
