module weft

go 1.26.0

require (
	github.com/peterbourgon/ff/v3 v3.4.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/cockroachdb/datadriven v1.0.3
	github.com/gdamore/tcell/v2 v2.13.10
	golang.org/x/net v0.62.0
)

require (
	github.com/gdamore/encoding v1.0.1 // indirect
	github.com/lucasb-eyer/go-colorful v1.3.0 // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	golang.org/x/term v0.47.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
