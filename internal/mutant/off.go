//go:build !mutants

package mutant

// On reports whether a bug has been planted: never.
func On(Bug) bool { return false }

// Plant plants nothing.
func Plant(Bug) {}

// Later does nothing.
func Later(func()) {}

// Sometimes reports false.
func Sometimes() bool { return false }
