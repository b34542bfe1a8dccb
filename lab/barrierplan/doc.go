// Package barrierplan runs the message plans of the barrier algorithms (coord.Plan) on simulated networks, without
// engines around them. So it reaches sizes that a swarm of engines does not, and shows what an algorithm costs by
// itself.
//
// `weftlab sim barrier` is its command. Tested in run_test.go beside the code.
package barrierplan
