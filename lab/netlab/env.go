package netlab

import (
	"strings"

	"weft/internal/launch"
)

// Env returns the environment variable that names the hosts to weft run and other commands. Each host has so many
// interfaces.
func (l *Lab) Env(interfaces int) string {
	var list []string
	for _, h := range l.Hosts {
		list = append(list, h.Namespace+"="+h.IP.String()+"="+Interfaces(interfaces))
	}
	return launch.EnvLab + "=" + strings.Join(list, " ")
}
