//go:build !race

package vmmc_test

const raceEnabled = false
