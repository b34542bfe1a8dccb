module weft/fabric/provider

go 1.26.0

replace weft => ../..

require weft v0.0.0

require golang.org/x/sys v0.50.0 // indirect
