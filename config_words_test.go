package weft

import (
	"errors"
	"strings"
	"testing"

	"weft/internal/bootstrap"
	"weft/internal/join"
)

// Config accepts the words of the transports and guards, whether they come from the program, the
// launcher or the environment. Another word is refused with an error that names the accepted ones.
func TestConfigWords(t *testing.T) {
	transports := []Transport{TransportAuto, TransportShm, TransportEth, TransportUDP, TransportTCP, TransportFabric}
	guards := []Guard{GuardChecksum, GuardAuthenticate, GuardEncrypt}
	for _, want := range transports {
		program, err := resolved(Config{Transport: want}, bootstrap.Job{Transport: "udp"})
		if err != nil || program.Transport != string(want) {
			t.Errorf("transport %s: %q, %v", want, program.Transport, err)
		}
		launcher, err := resolved(Config{}, bootstrap.Job{Transport: string(want)})
		if err != nil || launcher.Transport != string(want) {
			t.Errorf("transport %s from the launcher: %q, %v", want, launcher.Transport, err)
		}
	}
	for _, want := range guards {
		t.Setenv(join.EnvGuard, string(want))
		c, err := resolved(Config{}, bootstrap.Job{})
		if err != nil || c.Guard != string(want) || c.Transport != join.Auto {
			t.Errorf("guard %s from the environment: %+v, %v", want, c, err)
		}
	}
	for _, unknown := range []Transport{"UDP", TransportPipe, TransportSelf, TransportSim} {
		_, err := resolved(Config{Transport: unknown}, bootstrap.Job{})
		checkOption(t, err, "Config.Transport", string(unknown))
		for _, word := range transports {
			if err == nil || !strings.Contains(err.Error(), string(word)) {
				t.Errorf("transport %s: %v, want %s in it", unknown, err, word)
			}
		}
	}
	_, err := resolved(Config{}, bootstrap.Job{Transport: "ib"})
	checkOption(t, err, "-transport", "ib")
	t.Setenv(join.EnvGuard, "rot14")
	_, err = resolved(Config{}, bootstrap.Job{})
	checkOption(t, err, join.EnvGuard, "rot14")
	_, err = resolved(Config{Guard: "rot13"}, bootstrap.Job{})
	checkOption(t, err, "Config.Guard", "rot13")
	for _, word := range guards {
		if err == nil || !strings.Contains(err.Error(), string(word)) {
			t.Errorf("guard rot13: %v, want %s in it", err, word)
		}
	}
}

// resolved returns the settings of a process that is configured so.
func resolved(c Config, job bootstrap.Job) (join.Settings, error) {
	s := c.settings()
	err := s.Resolve(job)
	return s, err
}

// checkOption checks that an error is an OptionError of an option and its value.
func checkOption(t *testing.T, err error, option, value string) {
	t.Helper()
	var e *OptionError
	if !errors.As(err, &e) || !errors.Is(err, ErrOption) || e.Option != option || e.Value != value {
		t.Errorf("%s %q: %T: %v", option, value, err, err)
	}
}
