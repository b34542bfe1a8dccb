// Package faulty makes a lossy transport as bad as the worst network: it loses,
// repeats, reorders and damages packets, as a seed decides. Tests use it.
package faulty
