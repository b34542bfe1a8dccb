// Package environment makes a program that others have started a rank of a job: it recognizes
// the way by the environment, one file for each, and finds the other ranks. Docs:
// docs/LAUNCHERS.md.
package environment
