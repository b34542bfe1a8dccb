// Command planted plants bugs in the product's source, and shows that the tests find them.
//
//	go run ./lab/planted [PACKAGE...]
//
// A checker that cannot fail is a defect, so every bug of the tables in bugs/ must be found by the tests of the
// packages that its entry names, or of the packages that the command line names. The product has no trace of the
// bugs: an overlay of the source (`go help build`, -overlay) puts all of them into one build, where each does its
// wrong only after a test has planted it with package weft/internal/planted. The tests lie beside the code that they
// test, have the build tag mutants, and are named TestPlanted.
//
// An entry of a table is a patch that is found by its text, not by line numbers:
//
//	bug NoReAck: an old packet is not acknowledged again
//	found in internal/engine
//	file internal/engine/link/conn_recv.go
//	-		c.due[wire.KindAck] = true
//	+		c.due[wire.KindAck] = !planted.On("NoReAck")
//	 		return nil
//
// The lines that begin with a space or "-" must be in the file exactly once. "@@" begins another change of the same
// file.
package main
