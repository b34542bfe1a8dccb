// SP is the scalar pentadiagonal application of the NAS Parallel Benchmarks: the flow
// of a gas in a cube, whose steps are solved along one axis after the other. Along
// each, the equations are turned into five that do not depend on each other, of five
// neighbouring points each. The number of ranks is a square.
//
//	weft run -n 4 ./examples/nas/sp -class W
package main

import (
	"weft/examples/nas/cfd"
	"weft/examples/nas/npb"
)

func main() { npb.Main("S, W, A or B", benchmark.Run) }

var benchmark = cfd.Benchmark{
	Name: "SP", New: newSolver,
	Operations: func(n float64) float64 { return 881.174*n*n*n - 4683.91*n*n + 11484.5*n - 19272.4 },
	Classes: map[string]cfd.Class{
		"S": {
			Points: 12, Steps: 100, Dt: 0.015,
			Residual: cfd.State{2.7470315451339479e-02, 1.0360746705285417e-02, 1.6235745065095532e-02, 1.5840557224455615e-02,
				3.4849040609362460e-02},
			Error: cfd.State{2.7289258557377227e-05, 1.0364446640837285e-05, 1.6154798287166471e-05, 1.5750704994480102e-05,
				3.4177666183390531e-05},
		},
		"W": {
			Points: 36, Steps: 400, Dt: 0.0015,
			Residual: cfd.State{0.1893253733584e-02, 0.1717075447775e-03, 0.2778153350936e-03, 0.2887475409984e-03,
				0.3143611161242e-02},
			Error: cfd.State{0.7542088599534e-04, 0.6512852253086e-05, 0.1049092285688e-04, 0.1128838671535e-04,
				0.1212845639773e-03},
		},
		"A": {
			Points: 64, Steps: 400, Dt: 0.0015,
			Residual: cfd.State{2.4799822399300195, 1.1276337964368832, 1.5028977888770491, 1.4217816211695179,
				2.1292113035138280},
			Error: cfd.State{1.0900140297820550e-04, 3.7343951769282091e-05, 5.0092785406541633e-05, 4.7671093939528255e-05,
				1.3621613399213001e-04},
		},
		"B": {
			Points: 102, Steps: 400, Dt: 0.001,
			Residual: cfd.State{69.03293579998, 30.95134488084, 41.03336647017, 38.64769009604, 56.43482272596},
			Error: cfd.State{0.9810006190188e-02, 0.1022827905670e-02, 0.1720597911692e-02, 0.1694479428231e-02,
				0.1847456263981e-01},
		},
	},
}
