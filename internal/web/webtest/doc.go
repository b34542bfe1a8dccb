// Package webtest tests the page in a real browser: Debian's chromium, ordered over a pipe. It is a
// module of its own, since a browser takes longer than all other tests of the product.
package webtest
