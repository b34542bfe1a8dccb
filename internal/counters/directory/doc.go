// Package directory is where the pages of package counters lie: a file for each rank in a
// directory for each job, in memory that only the user can read.
//
//	/dev/shm/weft-UID/JOB/RANK
//
// A rank holds a lock on its file as long as it lives. The kernel takes the lock away when the
// process ends, however it ends. So a reader sees at once which ranks have died, and which files
// are left of jobs that have ended.
package directory
