// BT is the block tridiagonal application of the NAS Parallel Benchmarks: the flow of a
// gas in a cube, whose steps are solved along one axis after the other. Along each,
// every point depends on the two next to it by matrices of 5×5. The number of ranks is
// a square.
//
//	weft run -n 4 ./examples/nas/bt -class W
package main

import (
	"weft/examples/nas/cfd"
	"weft/examples/nas/npb"
)

func main() { npb.Main("S, W, A or B", benchmark.Run) }

var benchmark = cfd.Benchmark{
	Name: "BT", New: newSolver,
	Operations: func(n float64) float64 { return 3478.8*n*n*n - 17655.7*n*n + 28023.7*n },
	Classes: map[string]cfd.Class{
		"S": {
			Points: 12, Steps: 60, Dt: 0.010,
			Residual: cfd.State{1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02, 2.6436421275166801e-02,
				1.9211784131744430e-01},
			Error: cfd.State{4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05, 7.3821238632439731e-05,
				8.9269630987491446e-04},
		},
		"W": {
			Points: 24, Steps: 200, Dt: 0.0008,
			Residual: cfd.State{112.5590409344, 11.80007595731, 27.10329767846, 24.69174937669, 263.8427874317},
			Error:    cfd.State{4.419655736008, 0.4638531260002, 1.011551749967, 0.9235878729944, 10.18045837718},
		},
		"A": {
			Points: 64, Steps: 200, Dt: 0.0008,
			Residual: cfd.State{108.06346714637264, 11.319730901220813, 25.974354511582465, 23.665622544678910,
				252.78963211748344},
			Error: cfd.State{4.2348416040525025, 0.44390282496995698, 0.96692480136345650, 0.88302063039765474,
				9.7379901770829278},
		},
		"B": {
			Points: 102, Steps: 200, Dt: 0.0003,
			Residual: cfd.State{1423.3597229287254, 99.330522590150238, 356.46025644535285, 324.85447959084092,
				3270.7541254659363},
			Error: cfd.State{52.969847140936856, 4.4632896115670668, 13.122573342210174, 12.006925323559144, 124.59576151035986},
		},
	},
}
