// Package webtest tests the page in a real browser: Debian's chromium, driven by chromedp.
// It is a module of its own, so that whoever imports weft does not download chromedp.
package webtest
