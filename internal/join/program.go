package join

import "context"

// A Program is what a rank executes in a job whose ranks live in one process.
type Program struct {
	Run      func(ctx context.Context) error
	Returned func()                               // tells the other ranks that Run has returned nil
	Failed   func(ctx context.Context, err error) // leaves the job because Run has returned an error
	Close    func() error                         // leaves the job
}
