// Package process runs the ranks of a job that are on one host, as processes: it
// starts them, passes on their output and their connection to the launcher, signals
// them, tells how they end, and sees to it that nothing of them is left when this
// process ends, however it ends. The launcher uses it for its own host, and an agent
// for another one.
package process
