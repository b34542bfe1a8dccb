package environment

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A secret has at least so many bytes, of which so many are different: an attacker that has recorded a handshake can
// try words and repetitions offline.
const (
	leastSecret    = 16
	leastDifferent = 8
)

// openTo are the bits of a file's mode that let others read the secret, or put another one in its place.
const openTo fs.FileMode = 0o027

// readSecret returns the secret that the user has given, or nil if there is none.
func readSecret(e Environment) ([]byte, error) {
	text := []byte(e.Get(EnvSecret))
	name := EnvSecret
	if file := e.Get(EnvSecretFile); file != "" {
		if len(text) > 0 {
			return nil, fmt.Errorf("%s and %s are both set: which of the two?", EnvSecret, EnvSecretFile)
		}
		var err error
		if text, err = readSecretFile(file); err != nil {
			return nil, fmt.Errorf("%s: %w", EnvSecretFile, err)
		}
		name = EnvSecretFile + "=" + file
	} else if len(text) == 0 {
		return nil, nil
	}
	if err := checkSecret(text); err != nil {
		return nil, fmt.Errorf("%s %w; head -c 32 /dev/urandom | base64 makes a good one", name, err)
	}
	return text, nil
}

// readSecretFile reads a file that only its owner and its group can read.
func readSecretFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&openTo != 0 {
		return nil, fmt.Errorf("%s has mode %04o: others can read it or change it; chmod 600 %[1]s (in Kubernetes: "+
			"defaultMode: 0440)", name, mode)
	}
	b, err := io.ReadAll(io.LimitReader(f, mostSecret+1))
	if err == nil && len(b) > mostSecret {
		err = fmt.Errorf("%s is longer than %d bytes", name, mostSecret)
	}
	return bytes.TrimSpace(b), err
}

// mostSecret is longer than any secret.
const mostSecret = 4096

// checkSecret returns an error for a secret that can be guessed.
func checkSecret(text []byte) error {
	if len(text) < leastSecret {
		return fmt.Errorf("has %d bytes: must have at least %d, at random", len(text), leastSecret)
	}
	var seen [256]bool
	different := 0
	for _, b := range text {
		if !seen[b] {
			seen[b] = true
			different++
		}
	}
	if different < leastDifferent {
		return fmt.Errorf("has only %d different bytes and can be guessed: must have at least %d, at random", different,
			leastDifferent)
	}
	return nil
}
