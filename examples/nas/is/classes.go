package main

// A class is a problem size and what is known of its solution.
type class struct {
	name                       string
	logKeys, logMax, logBucket int
	index                      [tests]int // keys whose rank is known, counted over all processes
	rank                       [tests]int32
	change                     func(i int, it int32) int32 // of rank[i] in iteration it
}

const tests = 5

// step returns by how much the i-th known rank changes: a where up reports
// true, else -a.
func step(up bool, a int32) int32 {
	if up {
		return a
	}
	return -a
}

var classes = map[string]class{
	"S": {
		"S", 16, 11, 9,
		[tests]int{48427, 17148, 23627, 62548, 4431}, [tests]int32{0, 18, 346, 64917, 65463},
		func(i int, it int32) int32 { return step(i <= 2, it) },
	},
	"W": {
		"W", 20, 16, 10,
		[tests]int{357773, 934767, 875723, 898999, 404505}, [tests]int32{1249, 11698, 1039987, 1043896, 1048018},
		func(i int, it int32) int32 {
			if i < 2 {
				return it - 2
			}
			return -it
		},
	},
	"A": {
		"A", 23, 19, 10,
		[tests]int{2112377, 662041, 5336171, 3642833, 4250760}, [tests]int32{104, 17523, 123928, 8288932, 8388264},
		func(i int, it int32) int32 { return step(i <= 2, it-1) },
	},
	"B": {
		"B", 25, 21, 10,
		[tests]int{41869, 812306, 5102857, 18232239, 26860214}, [tests]int32{33422937, 10244, 59149, 33135281, 99},
		func(i int, it int32) int32 { return step(i == 1 || i == 2 || i == 4, it) },
	},
}
