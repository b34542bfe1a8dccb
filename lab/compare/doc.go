// Package compare measures two commits of weft in turn, and tells how they differ: it guards what has been reached.
// Figures of two runs on one machine differ by a half; ratios of runs in turn differ by a few per cent, and their
// spread says by how many.
//
// `weftlab compare` prints it. Tested in compare_test.go beside the code.
package compare
