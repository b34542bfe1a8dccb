package weft

import (
	"os"

	"weft/internal/amt"
)

// envAMT names the file of an AMT (address management table), which says which
// receive rings each rank has, or is "auto".
const envAMT = "WEFT_AMT"

// loadAMT returns what the environment says of receive rings for a job of some size.
func loadAMT(size int) (*amt.Plan, error) {
	text := os.Getenv(envAMT)
	plan, err := amt.Load(text, size)
	if err != nil {
		return nil, &OptionError{Option: envAMT, Value: text, Err: err}
	}
	return plan, nil
}
