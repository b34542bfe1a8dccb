// Package link carries frames to one peer. A Queue stands before every transport. A Conn
// makes a transport reliable that loses packets: it is the go-back-N protocol of
// PM/Ethernet with LOSE, STOP and GO ([Sumimoto00]), repaired, authenticated and with
// selective repeat (PROTOCOL §2).
//
// conn_state.go has the states of a Conn, with their transitions; conn_send.go, conn_recv.go
// and conn_timer.go implement them. The package is pure: time is an argument, and packets
// are returned, not sent.
//
// Keys in brackets are those of docs/REFERENCES.md. Tested with two links and a faulty
// network between them in rig_test.go and link_test.go; by subject in queue_test.go,
// class_test.go, congestion_test.go, selective_test.go, pathmtu_test.go, parts_test.go,
// guard_test.go, agree_test.go, vectors_test.go, reseal_test.go, silent_test.go, pause_test.go; with
// hostile peers in lies_test.go.
package link
