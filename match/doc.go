// Package match (see below).
package match
