// Package cfd is what the three simulated applications of the NAS Parallel Benchmarks
// have in common: LU, SP and BT solve the same equations of a gas that flows in a
// cube, the Navier-Stokes equations, and differ in how they solve the linear system
// of a step in time.
//
// The forcing is such that the solution is known: a polynomial. The grid is cut into
// blocks, with margins of two points; Block.Residual is what all steps begin with.
package cfd
