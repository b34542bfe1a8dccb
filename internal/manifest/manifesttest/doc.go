// Package manifesttest decodes what package manifest writes with Kubernetes' own types.
// It is a module of its own, so that weft does not depend on them.
package manifesttest
