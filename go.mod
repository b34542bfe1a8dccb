module weft

go 1.26.0

require (
	github.com/peterbourgon/ff/v3 v3.4.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/cockroachdb/datadriven v1.0.3
	golang.org/x/net v0.62.0
)

require github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
