package join

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"weft/failure"
	"weft/internal/bootstrap"
	"weft/internal/engine/link"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/faulty"
)

// Settings say how a process joins its job. Package weft documents them as Config.
type Settings struct {
	Transport                    string // shm, eth, udp, tcp, fabric or Auto
	Fabric                       string // the provider of libfabric; "": the best
	Liveness                     time.Duration
	Spin                         time.Duration
	Bind                         string
	Interface                    string
	EtherType                    uint16
	MTU                          int
	Guard                        string // checksum, authenticate, encrypt, or "" for what the path to each rank needs
	GoBackN                      bool
	Window                       int
	RetransmitMin, RetransmitMax time.Duration

	Interrupt bool                                                         // WEFT_INTERRUPT; see driver.Waiting
	Faults    func(t transport.Transport, ring func()) transport.Transport // spoils what comes over a network; or nil
}

// MinLiveness is the least liveness time. A shorter silence cannot be told from that of a process that waits for a
// processor.
const MinLiveness = 10 * time.Millisecond

// manyRanks is how many ranks a processor serves in time for the default liveness time.
const manyRanks = 16

// defaultLiveness is the liveness time where nothing names it. It grows with the ranks that share the processors of a
// host: one of a hundred ranks on a processor may wait for seconds until it runs, and lives.
func defaultLiveness(ranks int, cpus float64) time.Duration {
	return time.Duration(max(1, float64(ranks)/(manyRanks*cpus)) * float64(bootstrap.DefaultLiveness))
}

// Resolve completes settings from the job and the environment.
func (s *Settings) Resolve(job bootstrap.Job) error {
	from := "Config.Transport"
	if s.Transport == "" {
		from = "-transport"
		s.Transport = cmp.Or(job.Transport, Auto)
	}
	transports := []string{Auto, shmName, ethName, udpName, tcpName, fabricName}
	if err := oneOf(from, s.Transport, transports); err != nil {
		return err
	}
	if s.Liveness = cmp.Or(s.Liveness, job.Liveness); s.Liveness == 0 {
		s.Liveness = defaultLiveness(job.Crowd, sys.CPUs())
	}
	if s.Liveness > 0 && s.Liveness < MinLiveness {
		return fmt.Errorf("weft: Liveness %v: must be at least %v, 0 for the default, or negative for never",
			s.Liveness, MinLiveness)
	}
	s.Bind = cmp.Or(s.Bind, os.Getenv(EnvBind))
	s.Interface = cmp.Or(s.Interface, os.Getenv(EnvInterface))
	s.Fabric = os.Getenv(EnvFabric)
	s.Interrupt = os.Getenv(EnvInterrupt) == "1"
	s.GoBackN = s.GoBackN || os.Getenv(EnvGoBackN) == "1"
	from = "Config.Guard"
	if s.Guard == "" {
		from = EnvGuard
		s.Guard = os.Getenv(EnvGuard)
	}
	guards := []string{link.Checked.String(), link.Tagged.String(), link.Encrypted.String()}
	if s.Guard != "" {
		if err := oneOf(from, s.Guard, guards); err != nil {
			return err
		}
	}
	if err := s.readFaults(job); err != nil {
		return err
	}
	return s.readSpin()
}

// oneOf returns an OptionError if a word is none of those that an option takes.
func oneOf(option, word string, takes []string) error {
	if slices.Contains(takes, word) {
		return nil
	}
	last := len(takes) - 1
	return &failure.OptionError{
		Option: option, Value: word, Takes: strings.Join(takes[:last], ", ") + " or " + takes[last],
	}
}

func (s *Settings) readSpin() error {
	text := os.Getenv(EnvSpin)
	if text == "" || s.Spin != 0 {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("weft: %s=%q: must be a time such as 50us: %w", EnvSpin, text, err)
	}
	if s.Spin = d; d == 0 {
		s.Spin = -1
	}
	return nil
}

func (s *Settings) readFaults(job bootstrap.Job) error {
	text := os.Getenv(EnvFaults)
	if text == "" || s.Faults != nil {
		return nil
	}
	f, err := parseFaults(text)
	s.Faults = func(t transport.Transport, ring func()) transport.Transport {
		return faulty.New(t, f, job.ID^uint64(job.Rank), ring)
	}
	return err
}

// parseFaults reads what EnvFaults says.
func parseFaults(text string) (f faulty.Faults, err error) {
	fields := map[string]*float64{"lose": &f.Lose, "repeat": &f.Repeat, "reorder": &f.Reorder, "damage": &f.Damage}
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		if name == "delay" {
			if f.Delay, err = time.ParseDuration(value); err != nil || f.Delay < 0 {
				return f, fmt.Errorf("weft: %s: %q: must be a time such as 200us", EnvFaults, part)
			}
			continue
		}
		p, err := strconv.ParseFloat(value, 64)
		if fields[name] == nil || err != nil || !(p >= 0 && p < 1) {
			return f, fmt.Errorf("weft: %s: %q: must be lose, repeat, reorder or damage, = and a share from 0 to less than "+
				"1, or delay=200us", EnvFaults, part)
		}
		*fields[name] = p
	}
	return f, nil
}

// link returns the configuration of lossy links.
func (s *Settings) link() link.Config {
	return link.Config{
		Window: s.Window, RTOMin: s.RetransmitMin, RTOMax: s.RetransmitMax, Liveness: s.Liveness,
		Selective: !s.GoBackN,
	}
}
