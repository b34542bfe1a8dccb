module weft/fabric

go 1.26.0

replace weft => ..

require (
	github.com/ebitengine/purego v0.11.3
	weft v0.0.0
)

require golang.org/x/sys v0.50.0 // indirect
