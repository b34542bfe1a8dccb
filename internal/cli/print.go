package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// PrintJSON prints one object a line.
func PrintJSON[T any](rows []T) error {
	enc := json.NewEncoder(os.Stdout)
	for _, r := range rows {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// Absolute returns the absolute path of a file, and "" for "".
func Absolute(name string) string {
	if name == "" {
		return ""
	}
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}
