// Package openmpi tells Open MPI how to reach the hosts of a lab.
package openmpi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"weft/internal/launch"
)

// Hosts returns the flags with which mpirun starts ranks on hosts of the lab, the first of which is this one. They talk
// by TCP. A file that it needs is made in a directory.
func Hosts(dir string, hosts []launch.Host) ([]string, error) {
	// It is told to reach the other hosts by a command of ours in place of ssh.
	var script strings.Builder
	script.WriteString("#!/bin/sh\ncase $1 in\n")
	var names []string
	for _, h := range hosts {
		names = append(names, h.Address)
		fmt.Fprintf(&script, "%s) there='%s' ;;\n", h.Address, h.Namespace)
	}
	script.WriteString("esac\nshift\nexec nsenter --net=\"$there\" sh -c \"$*\"\n")
	agent := filepath.Join(dir, "agent")
	if err := os.WriteFile(agent, []byte(script.String()), 0o700); err != nil {
		return nil, err
	}
	return []string{
		"--mca", "plm_rsh_agent", agent, "--host", strings.Join(names, ","),
		"--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", hosts[0].Interface,
		"--mca", "oob_tcp_if_include", hosts[0].Interface, "--mca", "pml", "ob1",
	}, nil
}
