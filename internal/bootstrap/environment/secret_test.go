package environment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecretFile: a file is taken if others than its owner and group cannot read or change it, and a secret if it can
// hardly be guessed.
func TestSecretFile(t *testing.T) {
	good := "0123456789abcdefghij"
	for _, c := range []struct {
		mode    os.FileMode
		text    string
		refused string
	}{
		{0o600, good + "\n", ""},
		{0o440, good, ""},
		{0o604, good, "has mode 0604: others can read it"},
		{0o666, good, "has mode 0666: others can read it"},
		{0o620, good, "has mode 0620"},
		{0o600, " \n", "has 0 bytes"},
		{0o600, "0123456789", "has 10 bytes"},
		{0o600, strings.Repeat("abc", 20), "has only 3 different bytes"},
		{0o600, strings.Repeat(good, 1000), "is longer than"},
	} {
		name := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, c.mode); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{EnvSecretFile: name}
		secret, err := readSecret(Environment{Get: func(name string) string { return env[name] }})
		switch {
		case c.refused == "" && (err != nil || string(secret) != good):
			t.Errorf("%+v: %q, %v", c, secret, err)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("mode %o, %.20q: %v, want %q", c.mode, c.text, err, c.refused)
		}
	}
}
