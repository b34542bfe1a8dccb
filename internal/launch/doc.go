// Package launch starts the ranks of a job as processes of this machine,
// serves their bootstrap, passes on their output and their signals, and sees
// to it that nothing of them is left when the job ends, however it ends.
package launch
