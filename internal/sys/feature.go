package sys

// A Feature is a facility of the kernel that weft uses.
type Feature struct {
	Name    string `json:"name"`
	Use     string `json:"use"`               // what weft uses it for
	Missing string `json:"missing,omitempty"` // why it is not available
}
