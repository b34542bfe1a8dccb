// Command mutants changes a package in one place after the other, and runs the tests that should fail.
//
//	go run ./lab/mutants [-n N] [-diff REV] [-for D] [-seed S] [-near] [-least PERCENT] [PACKAGE-DIR...]
//
// A mutant is one change of the kind that a tired engineer makes: another comparison, a sum for a difference, "and" for
// "or", a loop that ends too early, or a condition after which nothing is done. Of each package N mutants are tried,
// chosen by what they are and by the seed: the same each time, while the source is the same. With -diff only lines that
// have changed since REV are mutated. After -for no further mutant is begun. Without packages it takes all in which a
// fault would be worst.
//
// All mutants of a package are compiled into one test program, as copies of their functions, of which a variable of the
// environment chooses one. Of the tests those run that reach it, the cheapest first, until one fails: those of the
// package itself, and then those of packages that use it, unless -near. With WEFT_HOSTS=1 and CGO_ENABLED=0 tests of package inside are among them.
//
// A mutant that does not compile is not counted. A mutant that makes the tests hang is found; it is printed, since the
// machine may have been too busy. A mutant that no test notices is printed, also if no test reaches its line: it is
// either a test that is missing, or no bug.
package main
