package launch

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"weft/internal/sys"
)

// EnvLab is the environment variable that names the hosts of the lab that a command runs in. It has a word
// "FILE=ADDRESS=INTERFACES" for each host: the file of its network namespace, its address and its interfaces.
const EnvLab = "WEFT_LAB"

// A Host is a host of a lab: see package netlab.
type Host struct{ Namespace, Address, Interface string }

// Start starts a command on the host, or on this host if there is no namespace.
func (h Host) Start(cmd *exec.Cmd) error {
	if h.Namespace == "" {
		return cmd.Start()
	}
	return sys.InNetwork(h.Namespace, cmd.Start)
}

// LabHosts returns the hosts of the lab that this process runs in, or none.
func LabHosts() (hosts []Host, err error) {
	for _, text := range strings.Fields(os.Getenv(EnvLab)) {
		part := strings.Split(text, "=")
		if len(part) != 3 {
			return nil, fmt.Errorf("weft: %s: %q: must be NAMESPACE=ADDRESS=INTERFACE; weftlab lab sets it", EnvLab, text)
		}
		hosts = append(hosts, Host{part[0], part[1], part[2]})
	}
	return hosts, nil
}
