// The linter of the gate. It is a module of its own, so that no other one needs what it imports.
module weft/ci/linter

go 1.26.0

require (
	github.com/golangci/misspell v0.7.0
	github.com/golangci/unconvert v0.0.0-20250410112200-a129a6e6413e
	github.com/gordonklaus/ineffassign v0.2.0
	github.com/gostaticanalysis/nilerr v0.1.2
	github.com/karamaru-alpha/copyloopvar v1.2.2
	github.com/kisielk/errcheck v1.9.0
	github.com/polyfloyd/go-errorlint v1.8.0
	github.com/sashamelentyev/usestdlibvars v1.29.0
	golang.org/x/tools v0.38.0
	honnef.co/go/tools v0.6.1
)

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	github.com/gostaticanalysis/comment v1.5.0 // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.29.0 // indirect
	golang.org/x/sync v0.17.0 // indirect
	golang.org/x/text v0.28.0 // indirect
	golang.org/x/tools/go/expect v0.1.1-deprecated // indirect
)
