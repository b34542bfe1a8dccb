// Package agent runs ranks on another host. A launcher (Remote) starts an agent (Serve) there, by ssh or by another
// command that passes on standard input and output, and the two exchange messages over these. The agent describes its
// host; the launcher has it start and signal processes, and learns how they end. The standard files of the processes
// and their connections to the launcher are streams on the same connection. Each stream has a window of its own, so
// that a slow one does not hold up the others.
//
// An agent can start another agent as one of its processes. A tree of agents therefore reaches many hosts, and the
// launcher has connections to the first few only.
//
// Each side sends something at least every quarter of the time of silence that they agree on. When the connection ends
// or is silent for that time, the agent kills the processes on its host and removes its files. If the agent itself is
// killed, its guard does so (see package process).
//
// Tested in agent_test.go, and between hosts in cmd/weft/hosts_linux_test.go.
package agent
