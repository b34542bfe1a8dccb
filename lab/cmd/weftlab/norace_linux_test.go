//go:build !race && linux

package main

const raceEnabled = false
