//go:build mutants

package mutant

var (
	planted Bug
	later   func()
	calls   int
)

// On reports whether a bug has been planted.
func On(b Bug) bool { return planted == b }

// Plant plants a bug in everything that runs from now on.
func Plant(b Bug) {
	planted = b
	later = nil
	calls = 0
}

// Later runs what it was given last, and keeps f for the next time.
func Later(f func()) {
	if later != nil {
		later()
	}
	later = f
}

// Sometimes reports true every eighth time.
func Sometimes() bool {
	calls++
	return calls%8 == 0
}
