package doctor

import (
	"bytes"
	"net"
	"os"
	"strings"

	"weft/internal/agent"
	"weft/internal/sys"
)

// wantedBuffer is the size in bytes of the socket buffers that weft asks the kernel for with UDP.
const wantedBuffer = 4 << 20

// clockSource is the file that names the kernel's clock source.
const clockSource = "/sys/devices/system/clocksource/clocksource0/current_clocksource"

// Examine returns what it finds out about the host that it runs on, for a program of the given version. It leaves out
// what this process may not know.
func Examine(name, version string) Host {
	h := Host{
		Name: name, Weft: version, Binary: programHash(),
		CPUs: sys.CPUs(), User: os.Getuid(), ClockSource: readLine(clockSource),
	}
	h.Kernel, h.Machine = sys.Kernel()
	h.Processors = processors()
	h.Memory = sys.ProcSize("/proc/meminfo", "MemTotal")
	h.Raw = sys.MayOpenPackets()
	limits := sys.ReadLimits()
	h.Files = limits.Files
	h.Processes = limits.Processes
	h.Receive, h.Send, _ = sys.Buffers(wantedBuffer)
	h.Features = sys.Features()
	h.Interfaces = interfaces()
	return h
}

// interfaces returns the interfaces that are up, except the loopback.
func interfaces() (list []Interface) {
	all, _ := net.Interfaces()
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 || i.Flags&net.FlagUp == 0 {
			continue
		}
		list = append(list, Interface{Name: i.Name, MTU: i.MTU, Mbps: sys.Mbps(i.Name)})
	}
	return list
}

// programHash returns the first bytes of the SHA-256 of this program's file, in hexadecimal.
func programHash() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	hash, _ := agent.HashFile(name) // "" if it cannot be read
	return hash[:min(len(hash), 12)]
}

// processors returns the number of processors of this host that are online. This process may be allowed to use fewer.
func processors() (n int) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("cpu")); ok && len(rest) > 0 && rest[0] != ' ' {
			n++
		}
	}
	return n
}

// readLine returns the first line of a file, or "".
func readLine(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}
