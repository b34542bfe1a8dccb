package extend

import "weft/internal/driver"

// A Place is where bytes lie in the memory of a rank, for ranks of the same host, which may copy from there while the
// program of that rank does something else. A place does not keep its bytes in use: the rank does that, as long as
// others may read them.
type Place = driver.Place

// PlaceOf returns where bytes of this rank lie.
func PlaceOf(b []byte) Place { return driver.PlaceOf(b) }
