// Package agent runs ranks on another host. A launcher starts an agent there, by ssh
// or in another way that gives it standard input and output, and talks to it over
// these: it is told what the host is like, starts processes, signals them and hears
// how they end; their standard files and their connections to the launcher are
// streams beside that, each with a window, so that none holds up the others.
//
// The agent of a host that is reached by way of another agent is a process of that
// one: its standard files are streams like all others. So a tree of agents needs
// nothing but a place to start each.
//
// Each side hears the other one at least every quarter of the time of silence that
// they agree on. When the connection has ended, or has been silent, the agent kills
// what runs on its host and removes its files; if it is killed itself, its guard does.
package agent
