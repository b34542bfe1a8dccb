// Package inside runs tests of weft's packages, from inside them, on hosts that package netlab makes. The product's own
// tests cannot: they must not need what makes the hosts. The files of testdata belong into the packages whose paths
// their directories have. They are put there by go test -overlay, beside the files that are there, or in their place.
package inside
