// LU is the lower-upper symmetric Gauss-Seidel application of the NAS Parallel
// Benchmarks: the flow of a gas in a cube, whose steps are relaxed by a sweep from one
// corner of the cube to the opposite one, and one back (SSOR). The ranks form a mesh
// over x and y; a sweep goes through them as a wavefront, plane after plane of z.
//
//	weft run -n 4 ./examples/nas/lu -class W
package main

import (
	"weft/examples/nas/cfd"
	"weft/examples/nas/npb"
)

func main() { npb.Main("S, W, A or B", benchmark.Run) }

var benchmark = cfd.Benchmark{
	Name: "LU", New: newSolver,
	Operations: func(n float64) float64 { return 1984.77*n*n*n - 10923.3*n*n + 27770.9*n - 144010 },
	Classes: map[string]cfd.Class{
		"S": {
			Points: 12, Steps: 50, Dt: 0.5,
			Residual: cfd.State{1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03, 1.5029584435994323e-03,
				3.4264073155896461e-02},
			Error: cfd.State{6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05, 5.8474222595157350e-05,
				1.3103347914111294e-03},
			Surface: 7.8418928865937083,
		},
		"W": {
			Points: 33, Steps: 300, Dt: 1.5e-3,
			Residual: cfd.State{12.36511638192, 1.317228477799, 2.550120713095, 2.326187750252, 28.26799444189},
			Error:    cfd.State{0.4867877144216, 0.05064652880982, 0.09281818101960, 0.08570126542733, 1.084277417792},
			Surface:  11.61399311023,
		},
		"A": {
			Points: 64, Steps: 250, Dt: 2,
			Residual: cfd.State{779.02107606689367, 63.402765259692870, 194.99249727292479, 178.45301160418537,
				1838.4760349464247},
			Error: cfd.State{29.964085685471943, 2.8194576365003349, 7.3473412698774742, 6.7139225687777051,
				70.715315688392578},
			Surface: 26.030925604886277,
		},
		"B": {
			Points: 102, Steps: 250, Dt: 2,
			Residual: cfd.State{3553.2672969982736, 262.14750795310692, 883.33721850952190, 778.12774739425265,
				7308.7969592545314},
			Error: cfd.State{114.01176380212709, 8.1098963655421574, 28.480597317698308, 25.905394567832939,
				260.54907504857413},
			Surface: 47.887162703308227,
		},
	},
}
