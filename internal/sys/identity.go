package sys

// An Identity tells where a process is, whatever its host is called. What cannot be known
// is "".
type Identity struct {
	// Machine is a kernel that runs: processes with the same are on one machine.
	Machine string

	// Container is the same for processes that share the processors they have been given:
	// those of one container, or of one machine, that may run on the same ones.
	Container string

	// Space is the same for processes that find each other and can share memory: those of
	// one user, whose sockets and numbers of processes are in the same namespaces.
	Space string
}
