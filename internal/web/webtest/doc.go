// Package webtest tests the page in a real browser: Debian's chromium, driven by chromedp.
// It is a module of its own, so that a module that imports weft does not download chromedp.
package webtest
