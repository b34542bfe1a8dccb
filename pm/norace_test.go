//go:build !race

package pm_test

const raceEnabled = false
