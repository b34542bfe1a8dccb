module weft/examples/services

go 1.26.0

require (
	github.com/redis/go-redis/v9 v9.23.0
	github.com/tidwall/redcon v1.6.4
	golang.org/x/net v0.62.0
	google.golang.org/grpc v1.84.0
	google.golang.org/protobuf v1.36.12
	storj.io/drpc v1.0.0
	weft v0.0.0
	weft/lab v0.0.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/tidwall/btree v1.1.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/zeebo/errs v1.2.2 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260928230214-8a89bd6388cc // indirect
)

replace weft => ../..

replace weft/lab => ../../lab
