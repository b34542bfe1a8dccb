package sys

// Relax is for a loop that looks at memory until another processor has changed it, and that has made so many looks. At
// every fourth one it pauses, for the other half of this core, on which the other process may run. A pause takes as
// long as several looks: at each look it would let a word wait for 8 ns that has come.
func Relax(made int) {
	if made%4 == 0 {
		Pause()
	}
}
