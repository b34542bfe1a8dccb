//go:build !linux

package breakdown

import (
	"context"

	"weft/internal/sys"
)

// Run returns an error: hosts to measure between need Linux.
func Run(ctx context.Context, rounds int, progress func(round int)) ([]Way, error) {
	return nil, sys.ErrUnsupported
}
