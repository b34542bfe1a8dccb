// Package handshake makes the proofs by which two processes of a job recognize
// each other before they exchange anything.
package handshake
