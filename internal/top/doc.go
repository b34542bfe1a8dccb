// Package top shows what the ranks of running jobs do: what their pages of counters say
// (package counters), what they say themselves that they wait for (package waitgraph), and what
// the kernel knows of their processes. A rank that hangs, or has been killed, is shown by its page.
package top
