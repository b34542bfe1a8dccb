//go:build !race

package fm_test

const raceEnabled = false
