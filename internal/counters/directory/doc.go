// Package directory is where the pages of package counters lie: a file for each rank in a
// directory for each job, in memory that only the user can read.
//
//	/dev/shm/weft-UID/JOB/RANK
//
// A rank holds a lock on its file as long as it lives, which the kernel takes away when the
// process ends in whatever way. So a reader sees at once which ranks have died, and can tell
// what is left of jobs that have ended from what belongs to others.
package directory
