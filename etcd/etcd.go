// Package etcd lets the ranks of a job meet in etcd: a program that imports it for its effect
//
//	import _ "weft/etcd"
//
// understands WEFT_RENDEZVOUS=etcd://HOST:PORT/PREFIX, and gets its rank from etcd if nothing else gives one;
// docs/LAUNCHERS.md. It has no names of its own. It is a package apart because its client speaks HTTP: other programs
// stay free of net/http and crypto/tls.
package etcd

import (
	"weft/internal/bootstrap/environment"
	"weft/internal/bootstrap/etcd"
)

func init() {
	environment.RegisterEtcd(func(members []string, name string, secret []byte) (environment.Meeting, error) {
		return etcd.NewMeeting(members, name, secret)
	})
}
