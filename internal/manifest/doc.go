// Package manifest writes what Kubernetes needs to run a job: a secret, a headless
// service and an Indexed Job, or a JobSet. It talks to no cluster: what it writes is
// for kubectl, and for people to read and change.
package manifest
