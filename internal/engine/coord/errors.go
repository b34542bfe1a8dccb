package coord

import "weft/failure"

// misfit returns the error of an operation that does not fit what the object is, or what this rank holds of it.
func (o *Object) misfit(do string, condition error, why string) error {
	return &failure.StateError{Name: o.Name, Do: do, Err: condition, Why: why}
}

// disagree returns the error for a rank with another signature of an object, and notes the signature.
func (o *Object) disagree(rank int, there signature) error {
	o.there = there
	return &failure.ConfigMismatchError{Name: o.Name, Rank: rank, Here: o.sig.String(), There: there.String()}
}
