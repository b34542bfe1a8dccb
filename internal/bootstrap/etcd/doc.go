// Package etcd is a client of etcd's version 3 by its JSON gateway: keys under a lease, which go
// away with the process that holds it, and waiting for keys to change.
package etcd
