// Step 2 of docs/TUTORIAL.md: each rank writes a result into the memory of rank 0.
//
//	weft run -n 4 ./examples/tutorial/step2
package main

import (
	"context"
	"encoding/binary"
	"fmt"

	"weft"
)

func main() { weft.Main(run) }

func run(ctx context.Context, p *weft.Proc) error {
	var region *weft.Region
	if p.Rank() == 0 {
		var err error
		if region, err = p.OpenRegion(ctx, "results", 8*p.Size(), nil); err != nil {
			return err
		}
	}
	results, err := p.AttachRegion(ctx, 0, "results") // waits until rank 0 has opened the region
	if err != nil {
		return err
	}
	if err := results.Push(ctx, 8*p.Rank(), result(p.Rank())); err != nil {
		return err
	}
	if err := p.Barrier("written", nil).Wait(ctx); err != nil {
		return err
	}
	if p.Rank() == 0 {
		fmt.Println("the sum is", sum(region.Bytes()))
	}
	return nil
}

// result is what a rank has computed: here the square of its number, as eight bytes.
func result(rank int) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(rank*rank))
}

// sum adds the results of all ranks.
func sum(results []byte) (sum uint64) {
	for ; len(results) > 0; results = results[8:] {
		sum += binary.LittleEndian.Uint64(results)
	}
	return sum
}
