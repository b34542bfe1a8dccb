// Package rendezvous brings the ranks of a job together that others have started: rank 0
// serves a store over TCP, and the others find it. Connections are authenticated both ways
// by the job's secret and encrypted (PROTOCOL §13).
package rendezvous
