//go:build race

package pm_test

const raceEnabled = true
