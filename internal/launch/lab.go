package launch

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"weft/internal/sys"
)

// EnvLab names the hosts of the lab that a command runs in:
// "FILE=ADDRESS=INTERFACES", the file of a network namespace, and the address and
// the interfaces of its host, for each.
const EnvLab = "WEFT_LAB"

// A Host is one of a lab: see package lab.
type Host struct{ Namespace, Address, Interface string }

// Start starts a command on the host; without a namespace, on ours.
func (h Host) Start(cmd *exec.Cmd) error {
	if h.Namespace == "" {
		return cmd.Start()
	}
	return sys.InNetwork(h.Namespace, cmd.Start)
}

// LabEnv returns the environment that tells a command of its hosts.
func LabEnv(hosts []Host) string {
	var list []string
	for _, h := range hosts {
		list = append(list, h.Namespace+"="+h.Address+"="+h.Interface)
	}
	return EnvLab + "=" + strings.Join(list, " ")
}

// LabHosts returns the hosts of the lab that we run in, if we do.
func LabHosts() (hosts []Host, err error) {
	for _, text := range strings.Fields(os.Getenv(EnvLab)) {
		part := strings.Split(text, "=")
		if len(part) != 3 {
			return nil, fmt.Errorf("weft: %s: %q is no namespace=address=interface", EnvLab, text)
		}
		hosts = append(hosts, Host{part[0], part[1], part[2]})
	}
	return hosts, nil
}
