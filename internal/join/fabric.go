package join

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"weft/internal/engine/link"
	"weft/internal/transport"
)

// fabricName is the transport that module weft/fabric brings along.
const fabricName = "fabric"

// Fabric opens the transport over libfabric. It is nil unless the program imports module weft/fabric, whose init sets
// it.
var Fabric func(c FabricConfig) (transport.Transport, error)

// A FabricConfig shapes that transport.
type FabricConfig struct {
	Provider   string // of libfabric, such as "verbs;ofi_rxm"; "": the best
	Devices    bool   // only providers that drive a device for remote memory access
	Bind       string // the address of this process, as "host:port", where it meets its peers
	Rank, Size int
	Job        uint64
	Secret     []byte        // of the job
	Liveness   time.Duration // how long a peer may take for a handshake, if it is less than usual; 0: as usual
	Bell       transport.Doorbell
	Events     transport.Events
}

// EnvFabric names the provider of libfabric.
const EnvFabric = "WEFT_FABRIC"

// errNoFabric reports a program without the module.
var errNoFabric = errors.New("weft: transport fabric is in a module of its own: " +
	`import _ "weft/fabric" in the program (docs/FABRIC.md)`)

// errUnguarded reports a guard that libfabric's endpoints do not have.
var errUnguarded = fmt.Errorf(
	"weft: transport fabric does not authenticate or encrypt packets, as Config.Guard or %s asks", EnvGuard)

func (m *Member) needsFabric() need {
	switch m.Settings.Transport {
	case fabricName:
		return required
	case Auto:
		if m.between() && Fabric != nil {
			return optional
		}
	}
	return unused
}

func (m *Member) openFabric() error {
	if Fabric == nil {
		return errNoFabric
	}
	if g, ok := link.ParseGuard(m.Settings.Guard); ok && g != link.Checked {
		return errUnguarded
	}
	var t transport.Transport
	opened := make(chan struct{}) // a peer may dial before Fabric has returned
	t, err := Fabric(FabricConfig{
		Provider: m.Settings.Fabric, Devices: m.Settings.Transport == Auto && m.Settings.Fabric == "",
		Bind: m.bind(), Rank: m.Job.Rank, Size: m.Job.Size, Job: m.Job.ID, Secret: m.Job.Secret,
		Liveness: max(m.Settings.Liveness, 0), Bell: m.bell,
		Events: m.Node.Events(func() transport.Transport { <-opened; return t }),
	})
	close(opened)
	if err != nil {
		return err
	}
	m.use(t)
	m.card.Fabric = t.Card()
	return nil
}

// sameProvider reports whether two cards of the transport, whose last word is the provider, belong together.
func sameProvider(a, b string) bool {
	_, p, _ := strings.Cut(a, " ")
	_, q, ok := strings.Cut(b, " ")
	return ok && p == q
}

// whyNotFabric says why a rank on another host is not reached by libfabric, if this program could.
func (m *Member) whyNotFabric(c Card) string {
	switch {
	case m.noFabric != "":
		return "no libfabric (" + strings.TrimPrefix(m.noFabric, "weft: fabric: ") + "); "
	case m.card.Fabric == "":
		return ""
	case c.Fabric == "":
		return "it has no libfabric; "
	}
	return "its provider of libfabric is another; "
}

// whyFabric says why a rank is reached by libfabric.
func (m *Member) whyFabric(c Card) string {
	if m.Settings.Transport == fabricName {
		return "-transport fabric was asked for"
	}
	_, provider, _ := strings.Cut(c.Fabric, " ")
	return "another host, and libfabric has " + provider
}
