//go:build race

package am_test

const raceEnabled = true
