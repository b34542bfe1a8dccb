package weft

import (
	"fmt"
	"os"

	"weft/internal/record"
)

// envRecord names the file into which the inputs of the engine are recorded. The rank is
// appended to the name.
const envRecord = "WEFT_RECORD"

// startRecording makes the process record the inputs of its engine, if the environment asks for it.
func (p *Proc) startRecording() error {
	name := os.Getenv(envRecord)
	if name == "" {
		return nil
	}
	f, err := record.Create(fmt.Sprintf("%s.%d", name, p.job.Rank))
	if err != nil {
		return fmt.Errorf("weft: %s: %w", envRecord, err)
	}
	p.record = f
	return nil
}

// endRecording closes the file.
func (p *Proc) endRecording() error {
	if p.record == nil {
		return nil
	}
	if err := p.record.Close(); err != nil {
		return fmt.Errorf("weft: %s: %w", envRecord, err)
	}
	return nil
}
